import { open } from './raw.ts'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** RFC 9113 section 6. */
const frameType = { headers: 1, resetStream: 3, settings: 4, goAway: 7 }
const END_STREAM = 1
const END_HEADERS = 4
const HEADER_OCTETS = 9

export type Field = readonly [name: string, value: string]

/**
 * Sends one request with header fields as they are, which HTTP/2 clients that know the rules refuse to do.
 *
 * @returns Whether the server has answered, or has ended the stream or the connection without an answer.
 */
export async function sendFields(
  port: number,
  fields: readonly Field[],
): Promise<'answered' | 'reset'> {
  const socket = await open(port)
  const request: readonly Field[] = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'api'],
    ...fields,
  ]
  const block = Buffer.concat(request.map(literal))
  socket.write(
    Buffer.concat([
      PREFACE,
      frame(frameType.settings, 0, 0, Buffer.alloc(0)),
      frame(frameType.headers, END_STREAM | END_HEADERS, 1, block),
    ]),
  )
  let received = Buffer.alloc(0)
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk])
    const types = typesOf(received)
    if (types.includes(frameType.headers)) return 'answered'
    if (types.includes(frameType.resetStream) || types.includes(frameType.goAway)) return 'reset'
  }
  return 'reset'
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_OCTETS)
  header.writeUIntBE(payload.length, 0, 3)
  header.writeUInt8(type, 3)
  header.writeUInt8(flags, 4)
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, payload])
}

/** The types of the frames that have begun. */
function typesOf(octets: Buffer): readonly number[] {
  if (octets.length < HEADER_OCTETS) return []
  const end = HEADER_OCTETS + octets.readUIntBE(0, 3)
  return [octets.readUInt8(3), ...typesOf(octets.subarray(end))]
}

/** A literal field without indexing and with a new name: RFC 7541 section 6.2.2. */
function literal([name, value]: Field): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)])
}

/** Without Huffman coding: RFC 7541 section 5.2. */
function text(characters: string): Buffer {
  const octets = Buffer.from(characters, 'latin1')
  return Buffer.concat([Buffer.from(prefixed(octets.length)), octets])
}

/** An integer behind a prefix of seven bits: RFC 7541 section 5.1. */
function prefixed(value: number): readonly number[] {
  return value < 127 ? [value] : [127, ...continued(value - 127)]
}

function continued(value: number): readonly number[] {
  return value < 128 ? [value] : [128 + (value % 128), ...continued(Math.floor(value / 128))]
}
