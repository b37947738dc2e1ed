import { inject } from 'vitest'

/**
 * The backends that queues and limits are tested on. A machine without redis-server has Postgres alone, and the run says
 * so in its last lines. CI has both.
 */
export function queueBackends(): readonly ('postgres' | 'redis')[] {
  return inject('isRedisHere') ? ['postgres', 'redis'] : ['postgres']
}
