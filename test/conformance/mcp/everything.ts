import {
  acceptedContent,
  completable,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

import {
  asked,
  elicited,
  embedded,
  image,
  PNG,
  questionOf,
  said,
  states,
  text,
  TOOLS,
} from './tools.ts'

// The server that the suite of the Model Context Protocol asks for: its tools, prompts and resources. It knows nothing of tokens.

/** A new one for each session, or each request of revisions without sessions. */
export function everything(): McpServer {
  const server = new McpServer(
    { name: 'everything', version: '1.0.0' },
    {
      capabilities: { logging: {}, resources: { subscribe: true } },
      requestState: { verify: async (state, context) => await states.verify(state, context) },
    },
  )
  for (const [name, tool] of Object.entries(TOOLS)) {
    server.registerTool(name, { description: name }, async (context) => await tool(context))
  }
  addQuestions(server)
  addResources(server)
  addPrompts(server)
  return server
}

function addQuestions(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of the client', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }) => {
      const { content } = await server.server.createMessage(asked(prompt, 100))
      return said(`LLM response: ${JSON.stringify(content)}`)
    },
  )
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, { mcpReq }) => {
      const properties = { username: text(), email: text() }
      const requestedSchema = {
        type: 'object' as const,
        properties,
        required: ['username', 'email'],
      }
      return elicited(await mcpReq.elicitInput({ message, requestedSchema }))
    },
  )
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has a schema of 2020-12', inputSchema: fromJsonSchema(SCHEMA as never) },
    () => said('Done'),
  )
  server.registerTool(
    'test_header',
    { description: 'Has an argument in a header', inputSchema: fromJsonSchema(IN_HEADER as never) },
    () => said('Done'),
  )
}

/** Its argument comes in the header `Mcp-Param-Region` as well. */
const IN_HEADER = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['region'],
}

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

function addResources(server: McpServer): void {
  const described = { description: 'A resource for testing' }
  server.registerResource(
    'static-text',
    'test://static-text',
    { ...described, mimeType: 'text/plain' },
    ({ href }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'text/plain',
          text: 'This is the content of the static text resource.',
        },
      ],
    }),
  )
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { ...described, mimeType: 'image/png' },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
    }),
  )
  server.registerResource(
    'watched-resource',
    'test://watched-resource',
    { ...described, mimeType: 'text/plain' },
    ({ href }) => ({
      contents: [{ uri: href, mimeType: 'text/plain', text: 'Watched' }],
    }),
  )
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { ...described, mimeType: 'application/json' },
    ({ href }, { id }) => {
      const data = { id, templateTest: true, data: `Data for ID: ${String(id)}` }
      return { contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify(data) }] }
    },
  )
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
}

const user = (...contents: readonly object[]) => ({
  messages: contents.map((content) => ({
    role: 'user' as const,
    content: content as { type: 'text'; text: string },
  })),
})
const saying = (words: string) => ({ type: 'text', text: words })

function addPrompts(server: McpServer): void {
  const described = { description: 'A prompt for testing' }
  server.registerPrompt('test_simple_prompt', described, () =>
    user(saying('This is a simple prompt for testing.')),
  )
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      ...described,
      argsSchema: z.object({
        arg1: completable(z.string(), (value) =>
          ['paris', 'park', 'party'].filter((each) => each.startsWith(value)),
        ),
        arg2: z.string(),
      }),
    },
    ({ arg1, arg2 }) => user(saying(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { ...described, argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      user(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        saying('Please process the embedded resource above.'),
      ),
  )
  server.registerPrompt('test_prompt_with_image', described, () =>
    user(image, saying('Please analyze the image above.')),
  )
  server.registerPrompt('test_input_required_result_prompt', described, ({ mcpReq }) => {
    const answered = acceptedContent(
      mcpReq.inputResponses,
      'user_context',
      z.object({ context: z.string() }),
    )
    return answered === undefined
      ? inputRequired({
          inputRequests: {
            user_context: questionOf('What context should the prompt use?', {
              context: { type: 'string' },
            }),
          },
        })
      : user(saying(answered.context))
  })
}
