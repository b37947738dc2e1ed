import type { Schema } from '../../api/client.ts'
import { count, duration } from '../../format/numbers.ts'

type Condition = Schema<'AlertCondition'>

/**
 * A condition as a sentence without its point: `More than 5% of the requests of a channel fail within 5
 * min`.
 */
export function ruleWords(condition: Condition): string {
  switch (condition.kind) {
    case 'error_rate':
      return `More than ${condition.above_percent}% of the requests of ${one(condition.of, condition.name)} fail within ${window(condition)}`
    case 'latency': {
      const time = condition.metric === 'total' ? 'total time' : 'time to first token'
      return `The ${condition.percentile} ${time} of ${one(condition.of, condition.name)} is above ${duration(condition.above_ms)} within ${window(condition)}`
    }
    case 'uncharged':
      return `More than $${condition.above_usd} of the cost of ${one(condition.of, condition.name)} is not charged within ${duration(condition.window_minutes * 60_000)}`
    case 'budget': {
      const whose = `${condition.of === 'tenant' && condition.below_usd !== undefined ? 'the balance or a budget' : 'a budget'} of ${condition.id === null ? `a ${condition.of}` : `the ${condition.of} ${condition.id}`}`
      return condition.below_usd === undefined
        ? `${condition.spent_percent ?? 0}% of ${whose} is spent`
        : `Less than $${condition.below_usd} of ${whose} is left`
    }
    case 'channel_down': {
      const times = condition.openings === 1 ? '' : `, ${condition.openings} times in a row`
      return `The breaker of ${one('channel', condition.channel)} opens${times}, or its credentials are all refused`
    }
    case 'ledger_lag':
      return `A row waits for Postgres for more than ${duration(condition.older_than_seconds * 1_000)}${condition.set_aside ? ', or a frame is set aside' : ''}`
    case 'new_network':
      return `${condition.key_id === null ? 'A key' : `The key ${condition.key_id}`} is used from a new network, after ${count(condition.learning_days)} days of learning`
  }
}

function one(of: string, name: string | null): string {
  return name === null ? `a ${of}` : `the ${of} ${name}`
}

function window({ window_minutes, min_requests }: { window_minutes: number; min_requests: number }): string {
  return `${duration(window_minutes * 60_000)}, with at least ${min_requests === 1 ? '1 request' : `${count(min_requests)} requests`}`
}

/** What a receiver has answered to a test, in words. The beginning of its body follows. */
export function testWords({ delivered, status, answer, problem }: Schema<'AlertTest'>): string {
  if (status === null) return `Test not delivered: ${(problem ?? 'no answer').replace(/\.$/, '')}.`
  const body = answer === null ? '.' : answer === '' ? ', with an empty body.' : ':'
  return `${delivered ? 'Test delivered' : 'Test not accepted'}. The receiver answered ${status}${body}`
}
