import { z } from 'zod'
import type { GroupRow } from './group-queries.ts'
import {
  budgetJson,
  budgetShown,
  keepingJson,
  keepingShown,
  limitsJson,
  limitsShown,
  managedByShown,
} from './setting-schema.ts'

export const groupShown = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    public: z.boolean().describe('Whether the public catalog shows its models and prices to everybody.'),
    models: z.array(z.string()).describe('`*`: all models.'),
    channels: z.array(z.string()).describe('`*`: all channels.'),
    price_multiplier: z.string(),
    image_priority: z.int(),
    capture_answers: z.boolean().describe('Whether the usage log keeps answers. A key may say otherwise.'),
    responses: keepingShown
      .extend({
        compact_model: z
          .string()
          .optional()
          .describe("The model that sums up conversations. Absent: the client's."),
      })
      .describe('Whether answers are kept for later requests. A key may say otherwise.'),
    client_gone: z.object({
      policy: z.enum(['drain', 'abort']),
      seconds: z.int(),
      unseen: z
        .enum(['estimate', 'hold'])
        .describe(
          'Where money is limited and nothing of the answer had come: charged at once, or held first.',
        ),
    }),
    limits: limitsShown.describe('Of each key that has none of its own.'),
    total_limits: limitsShown.describe('Of all its keys together.'),
    budget: budgetShown,
    managed_by: managedByShown,
  })
  .meta({ id: 'Group' })

export function groupJson(row: GroupRow): z.output<typeof groupShown> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    public: row.public,
    models: row.models,
    channels: row.channels,
    price_multiplier: row.priceMultiplier,
    image_priority: row.imagePriority,
    capture_answers: row.captureAnswers,
    responses: {
      ...keepingJson(row.keptDays),
      ...(row.compactModel !== null && { compact_model: row.compactModel }),
    },
    client_gone: {
      policy: row.clientGonePolicy,
      seconds: row.clientGoneSeconds,
      unseen: row.clientGoneUnseen,
    },
    limits: limitsJson(row),
    total_limits: limitsJson({
      requestsPerMinute: row.totalRequestsPerMinute,
      tokensPerMinute: row.totalTokensPerMinute,
      concurrency: row.totalConcurrency,
    }),
    budget: budgetJson(row),
    managed_by: row.managedBy,
  }
}
