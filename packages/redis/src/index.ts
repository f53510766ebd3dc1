// Everything that `@portcullis/redis` exports.

export type { RevocationsMessage } from './revocations/diagnostics.ts'
export { RevocationStoreError } from './store/errors.ts'
export type { RedisRevocationsOptions } from './revocations/options.ts'
export { redisReplays, type RedisReplays } from './replays/redis-replays.ts'
export type { ReplaysMessage } from './replays/diagnostics.ts'
export { ReplayStoreError } from './replays/errors.ts'
export type { RedisReplaysOptions } from './replays/options.ts'
export { redisRevocations, type RedisRevocations } from './revocations/redis-revocations.ts'
export type { RedisClient, RedisConnection, RedisSentinels } from './store/redis-transport.ts'
export type { RedisRevocationsStatus } from './revocations/status.ts'
