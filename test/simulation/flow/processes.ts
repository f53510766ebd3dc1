import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A process that answers questions. */
export interface Running extends AsyncDisposable {
  /** @throws Error with what was thrown there. */
  ask<Answer>(question: string, argument?: unknown): Promise<Answer>
  /** Waits until that process tells so. */
  told(news: string): Promise<void>
  /** SIGKILL */
  kill(): Promise<void>
}

export interface Program {
  /** The Node that runs it; by default this one. */
  readonly node?: string
  readonly flags?: readonly string[]
}

interface Message {
  readonly id?: number
  readonly news?: string
  readonly answer?: unknown
  readonly error?: string
}

/** Starts a file as a process of its own. */
export async function start(
  file: URL,
  env: Record<string, string> = {},
  { node = process.execPath, flags = ['--conditions=@portcullis/source'] }: Program = {},
): Promise<Running> {
  const child = fork(fileURLToPath(file), [], {
    execPath: node,
    execArgv: [...flags],
    env: { ...process.env, ...env },
  })
  const exited = once(child, 'exit')
  const inbox = new Map<number | string, (message: Message) => void>()
  child.on('message', (message: Message) => inbox.get(message.id ?? message.news ?? '')?.(message))
  let asked = 0

  async function receive(key: number | string): Promise<Message> {
    const received = new Promise<Message>((resolve) => inbox.set(key, resolve))
    const died = exited.then(() => ({ error: `${file.pathname} has ended` }))
    return await Promise.race([received, died])
  }

  await receive('ready')
  return {
    async ask<Answer>(question: string, argument?: unknown) {
      const id = ++asked
      const reply = receive(id)
      child.send({ id, question, argument })
      const { error, answer } = await reply
      if (error !== undefined) throw new Error(error)
      return answer as Answer /* the asker knows what that process answers */
    },
    async told(news) {
      await receive(news)
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}

type Answers = Readonly<Record<string, (argument: never) => unknown>>

/** The other side: answers until the parent leaves. */
export function serve(answers: Answers): void {
  process.on('message', ({ id, question, argument }: Question) => {
    const given = async () => await answers[question]?.(argument as never /* the asker knows */)
    given().then(
      (value) => process.send?.({ id, answer: value }),
      (error: unknown) => process.send?.({ id, error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
  tell('ready')
}

interface Question {
  readonly id: number
  readonly question: string
  readonly argument: unknown
}

export function tell(news: string): void {
  process.send?.({ news })
}
