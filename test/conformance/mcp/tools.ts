import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  inputRequired,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

// The tools without arguments that the suite of the Model Context Protocol asks for: each is as a scenario describes it.

/** One pixel, and a sound of no length. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

export const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
export const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const
export const states = createRequestStateCodec<{ step: number }>({ key: Buffer.alloc(32, 7) })

type Answer = CallToolResult | InputRequiredResult
type Tool = (context: ServerContext) => Answer | Promise<Answer>

export const TOOLS: Readonly<Record<string, Tool>> = {
  test_simple_text: () => said('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }),
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing')
  },
  async test_tool_with_logging({ mcpReq }) {
    for (const text of ['started', 'processing data', 'completed']) {
      await mcpReq.log(
        'info',
        text === 'processing data' ? `Tool ${text}` : `Tool execution ${text}`,
      )
    }
    return said('Logged')
  },
  async test_tool_with_progress({ mcpReq }) {
    const { _meta: meta } = mcpReq
    const progressToken = meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken: progressToken ?? 0, progress, total: 100 }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
    return said('Done')
  },
  async test_logging_tool({ mcpReq }) {
    await mcpReq.log('info', 'Logged')
    return said('Logged')
  },
  test_streaming_elicitation: ({ mcpReq }) => askName(mcpReq.inputResponses),
  test_missing_capability: () =>
    inputRequired({
      inputRequests: { question: inputRequired.createMessage(asked('Hello?', 100)) },
    }),
  async test_elicitation_sep1034_defaults({ mcpReq }) {
    return elicited(await mcpReq.elicitInput({ message: 'Defaults', requestedSchema: DEFAULTS }))
  },
  async test_elicitation_sep1330_enums({ mcpReq }) {
    return elicited(await mcpReq.elicitInput({ message: 'Enums', requestedSchema: ENUMS }))
  },
  test_input_required_result_elicitation: ({ mcpReq }) => askName(mcpReq.inputResponses),
  test_input_required_result_sampling: ({ mcpReq }) =>
    mcpReq.inputResponses?.['capital_question'] === undefined
      ? inputRequired({
          inputRequests: {
            capital_question: inputRequired.createMessage(
              asked('What is the capital of France?', 100),
            ),
          },
        })
      : said(JSON.stringify(mcpReq.inputResponses['capital_question'])),
  test_input_required_result_list_roots: ({ mcpReq }) =>
    mcpReq.inputResponses?.['client_roots'] === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : said(JSON.stringify(mcpReq.inputResponses['client_roots'])),
  test_input_required_result_capabilities: ({ mcpReq }) =>
    mcpReq.inputResponses === undefined
      ? inputRequired({ inputRequests: questionsFor(mcpReq.envelope) })
      : said('Done'),
  test_input_required_result_request_state: async (context) => await confirm(context),
  test_input_required_result_tampered_state: async (context) => await confirm(context),
  async test_input_required_result_multiple_inputs(context) {
    const { inputResponses = {} } = context.mcpReq
    if (
      ['user_name', 'greeting', 'client_roots'].every((name) => Object.hasOwn(inputResponses, name))
    ) {
      return said('Done')
    }
    return inputRequired({
      inputRequests: {
        user_name: NAME,
        greeting: inputRequired.createMessage(asked('Generate a greeting', 50)),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ step: 1 }, context),
    })
  },
  async test_input_required_result_multi_round(context) {
    const { step = 0 } = context.mcpReq.requestState<{ step: number }>() ?? {}
    if (step === 2) return said('Done')
    const [message, name] =
      step === 0
        ? (['What is your name?', 'name'] as const)
        : (['What is your favorite color?', 'color'] as const)
    const question = questionOf(`Step ${step + 1}: ${message}`, { [name]: { type: 'string' } })
    return inputRequired({
      inputRequests: { [`step${step + 1}`]: question },
      requestState: await states.mint({ step: step + 1 }, context),
    })
  },
}

export function embedded(uri: string, mimeType: string, text: string) {
  return { type: 'resource' as const, resource: { uri, mimeType, text } }
}

export function asked(text: string, maxTokens: number) {
  return {
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
    maxTokens,
  }
}

export function questionOf(message: string, properties: object) {
  const requestedSchema = { type: 'object', properties, required: Object.keys(properties) }
  return inputRequired.elicit({ message, requestedSchema: requestedSchema as never })
}

const NAME = questionOf('What is your name?', { name: { type: 'string' } })

function askName(responses: Record<string, unknown> | undefined): Answer {
  const name = acceptedContent(responses, 'user_name', z.object({ name: z.string() }))
  return name === undefined
    ? inputRequired({ inputRequests: { user_name: NAME } })
    : said(`Hello, ${name.name}!`)
}

async function confirm(context: ServerContext): Promise<Answer> {
  const { mcpReq } = context
  if (mcpReq.requestState<{ step: number }>()?.step === 1 && mcpReq.inputResponses !== undefined) {
    return said('state-ok')
  }
  return inputRequired({
    inputRequests: { confirm: questionOf('Please confirm', { ok: { type: 'boolean' } }) },
    requestState: await states.mint({ step: 1 }, context),
  })
}

/** Of those that the client can answer, as it has said with this request. */
function questionsFor(envelope: object | undefined) {
  const declared = Object(
    Reflect.get(Object(envelope) as object, 'io.modelcontextprotocol/clientCapabilities'),
  ) as object
  const questions = {
    elicitation: { user_name: NAME },
    sampling: { greeting: inputRequired.createMessage(asked('Generate a greeting', 50)) },
    roots: { client_roots: inputRequired.listRoots() },
  }
  return Object.assign(
    {},
    ...Object.entries(questions).map(([name, each]) => (Object.hasOwn(declared, name) ? each : {})),
  ) as Record<string, typeof NAME>
}

export const text = (more: object = {}) => ({ type: 'string' as const, ...more })
const DEFAULTS = {
  type: 'object' as const,
  properties: {
    name: text({ default: 'John Doe' }),
    age: { type: 'integer' as const, default: 30 },
    score: { type: 'number' as const, default: 95.5 },
    status: text({ enum: ['active', 'inactive', 'pending'], default: 'active' }),
    verified: { type: 'boolean' as const, default: true },
  },
}
const [ONE, TWO] = [
  { const: 'value1', title: 'First' },
  { const: 'value2', title: 'Second' },
]
const ENUMS = {
  type: 'object' as const,
  properties: {
    untitledSingle: text({ enum: ['option1', 'option2', 'option3'] }),
    titledSingle: text({ oneOf: [ONE, TWO] }),
    legacyEnum: text({ enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] }),
    untitledMulti: { type: 'array' as const, items: text({ enum: ['option1', 'option2'] }) },
    titledMulti: { type: 'array' as const, items: { anyOf: [ONE, TWO] } },
  },
} as never

export function elicited({
  action,
  content,
}: {
  action: string
  content?: unknown
}): CallToolResult {
  return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)
}
