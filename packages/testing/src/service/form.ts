// Reads the form that a client posts, and refuses without a body.

const MAX_FORM_OCTETS = 64 * 1024

/** The form of a request, or why it is refused. */
export async function readForm(request: Request): Promise<URLSearchParams | Response> {
  if (request.method !== 'POST') return refuse(405, 'POST')
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return refuse(415)
  const body = await request.text()
  return body.length > MAX_FORM_OCTETS ? refuse(413) : new URLSearchParams(body)
}

export function refuse(status: number, allow?: string): Response {
  return new Response(null, { status, headers: allow === undefined ? {} : { allow } })
}
