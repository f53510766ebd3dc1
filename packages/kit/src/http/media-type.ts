// What an answer or a request says that its body is.

/** In small letters, without parameters; empty if nothing is stated. RFC 9110 sections 8.3 and 8.3.1 */
export function mediaTypeOf(contentType: string | null | undefined): string {
  const [type = ''] = (contentType ?? '').split(';', 1)
  return type.trim().toLowerCase()
}
