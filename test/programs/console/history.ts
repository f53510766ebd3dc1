import type { Serving } from './serving.ts'

/** What happens in a few minutes: two services, three keys, and a fault. */
export async function play(service: Serving): Promise<void> {
  const { clock, control, logIn, fetchKeys } = service
  const wait = async (seconds: number) => {
    await clock.advance(seconds)
  }
  await fetchKeys()
  await wait(8)
  await fetchKeys('billing-api/3.2')
  await wait(12)
  await logIn('demo', 'demo')
  await wait(25)
  await logIn('ada', 'wrong')
  await wait(9)
  await logIn('demo', 'demo', 'mobile/7')
  await wait(31)
  await control('rotate')
  await wait(4)
  await logIn('demo', 'demo')
  await wait(1)
  await fetchKeys()
  await wait(7)
  await fetchKeys('billing-api/3.2')
  await wait(40)
  await control('fault', { endpoint: 'keys', kind: 503, seconds: 30 })
  await wait(6)
  await fetchKeys()
  await wait(10)
  await fetchKeys('billing-api/3.2')
  await wait(30)
  await fetchKeys()
  await wait(20)
  await control('mint', { kind: 'expired' })
  await wait(5)
  await control('rotate', { publish: 'later' })
  await wait(6)
  await logIn('demo', 'demo')
  await wait(2)
  await fetchKeys()
  await wait(11)
}
