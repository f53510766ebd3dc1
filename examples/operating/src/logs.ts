import { channel } from 'node:diagnostics_channel'

import type { KeysMessage } from '@portcullis/core'

/** Writes down each attempt that failed, each key that came or left, and each snapshot that was not used. */
export function logKeys(log: Pick<Console, 'info' | 'warn'>): void {
  channel('portcullis:keys').subscribe((message) => {
    const { trigger, outcome, detail, added, removed } = message as KeysMessage
    if (outcome !== 'success') log.warn('keys', { trigger, outcome, detail })
    else if (added.length + removed.length > 0) log.info('keys', { trigger, added, removed })
  })
}
