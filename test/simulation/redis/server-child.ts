import { startRedis } from './redis-server.ts'

// Starts a server and says on which port, until it is killed itself.

const server = await startRedis()
console.log(server.port)
process.stdin.resume()
