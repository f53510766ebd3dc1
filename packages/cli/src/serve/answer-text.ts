import { CommandError, EXIT } from '../surroundings/exit-code.ts'

// Reads the answer of a running `portcullis serve`, or of whatever else listens there, without holding more of it than the limit.

/** Bytes, after decompression. A log of 1,000 events that are as long as they can be has half of it. */
const MAX_OCTETS = 16 * 1024 * 1024

/**
 * The text of an answer, whoever sent it. It is counted while it is read.
 *
 * @throws CommandError if it is longer than any answer of ours.
 */
export async function answerText({ body }: Pick<Response, 'body'>): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  let text = ''
  let octets = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    octets += chunk.length
    if (octets > MAX_OCTETS) {
      throw new CommandError(EXIT.undecided, 'what answers sends more than `portcullis serve` does')
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
