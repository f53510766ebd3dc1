// The first major of the SDK with the oldest zod that it permits: imports resolve from where a file is, and here that is this one.

export { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
export { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
export { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'

/** Where the SDK is. */
export const sdk = import.meta.resolve('@modelcontextprotocol/sdk/server/mcp.js')
