import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { createCertificate } from '../../certificate.ts'
import { connect } from './connection.ts'
import { describeWithRedis } from './describe-with-redis.ts'
import { startProxy } from './proxy.ts'
import { startRedis } from './redis-server.ts'
import { until } from './waiting.ts'

// The servers and the proxy that the other tests of this folder rely on.

describeWithRedis('a server', () => {
  test('keeps its data on its port over a kill, or comes back without them', async () => {
    await using server = await startRedis({ isPersistent: true })
    await server.command('SET', 'name', 'value')
    await server.kill()
    await expect(server.command('GET', 'name')).rejects.toThrow('ECONNREFUSED')
    await server.restart()
    expect(await server.command('GET', 'name')).toBe('value')
    await server.restart({ withData: false })
    expect(await server.command('GET', 'name')).toBeNull()
  })

  test('answers nothing while it is stopped', async () => {
    await using server = await startRedis()
    server.pause()
    let isAnswered = false
    const answer = server.command('PING').then((word) => {
      isAnswered = true
      return word
    })
    server.resume()
    expect(await answer).toBe('PONG')
    expect(isAnswered).toBe(true)
  })

  test('has a password, and speaks TLS', async () => {
    using certificate = createCertificate()
    await using server = await startRedis({ certificate, password: 'secret' })
    expect(await server.command('PING')).toBe('PONG')
    const stranger = await connect(server.port, certificate)
    await expect(stranger.command('PING')).rejects.toThrow('NOAUTH')
    stranger.close()
  })

  test('has a bound of memory, at which it refuses to write', async () => {
    await using server = await startRedis({ maxMemory: 1 })
    await expect(server.command('SET', 'name', 'value')).rejects.toThrow('OOM')
  })

  test('is copied by a replica, which can be promoted', async () => {
    await using primary = await startRedis()
    await using replica = await startRedis({ replicaOf: primary.port })
    await primary.command('SET', 'name', 'value')
    await until('copied', async () => (await replica.command('GET', 'name')) === 'value')
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await primary.kill()
    expect(await replica.command('SET', 'name', 'other')).toBe('OK')
  })

  test('ends with the process that started it, also when that is killed', async () => {
    const path = fileURLToPath(new URL('server-child.ts', import.meta.url))
    const child = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'inherit'] })
    const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const connection = await connect(Number(port))
    const ended = connection.command('BLPOP', 'nothing', 0)
    child.kill('SIGKILL')
    await expect(ended).rejects.toThrow('ended')
  })
})

describeWithRedis('the proxy', () => {
  test('passes, delays, swallows, refuses, and leads to another server', async () => {
    await using server = await startRedis()
    await using other = await startRedis()
    await server.command('SET', 'name', 'first')
    await other.command('SET', 'name', 'second')
    await using proxy = await startProxy(server.port)
    const connection = await connect(proxy.port)
    expect(await connection.command('GET', 'name')).toBe('first')

    proxy.delay = 0.05
    const start = performance.now()
    await connection.command('PING')
    expect(performance.now() - start).toBeGreaterThan(95)
    proxy.delay = 0

    proxy.mode = 'swallow'
    const swallowed = connection.command('PING')
    proxy.cut()
    await expect(swallowed).rejects.toThrow('ended')

    proxy.mode = 'refuse'
    const ping = async () => await (await connect(proxy.port)).command('PING')
    await expect(ping()).rejects.toThrow(/ended|ECONNRESET/)

    proxy.mode = 'pass'
    proxy.target = other.port
    const led = await connect(proxy.port)
    expect(await led.command('GET', 'name')).toBe('second')
    led.close()
  })

  test('cuts a connection in the middle of a reply', async () => {
    await using server = await startRedis()
    await server.command('SET', 'name', 'x'.repeat(1000))
    await using proxy = await startProxy(server.port)
    const cut = proxy.cutNextReply(1000)
    const connection = await connect(proxy.port)
    await connection.command('PING')
    await expect(connection.command('GET', 'name')).rejects.toThrow('ended')
    await cut
  })
})
