// The second major of the SDK with the oldest zod that it permits: imports resolve from where a file is, and here that is this one.

export { toNodeHandler } from '@modelcontextprotocol/node'
export { createMcpHandler, McpServer } from '@modelcontextprotocol/server'

/** Where the SDK is. */
export const sdk = import.meta.resolve('@modelcontextprotocol/server')
