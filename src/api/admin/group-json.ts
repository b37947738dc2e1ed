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
    public: z
      .boolean()
      .describe('Whether the public catalog shows the models and prices of the group to everyone.'),
    models: z.array(z.string()).describe('The models of the group; `*` means all models.'),
    channels: z.array(z.string()).describe('The channels of the group; `*` means all channels.'),
    price_multiplier: z.string(),
    image_priority: z.int(),
    capture_answers: z.boolean().describe('Whether the usage log keeps answers. Can be overridden per key.'),
    responses: keepingShown
      .extend({
        compact_model: z
          .string()
          .optional()
          .describe("The model that summarises conversations. If absent, the client's model is used."),
      })
      .describe('Whether answers are kept for later requests. Can be overridden per key.'),
    client_gone: z.object({
      policy: z.enum(['drain', 'abort']),
      seconds: z.int(),
      unseen: z
        .enum(['estimate', 'hold'])
        .describe(
          'For a limited balance, if no part of the answer had arrived: whether its cost is charged at once or first held.',
        ),
    }),
    limits: limitsShown.describe('The limits of each key that has none of its own.'),
    total_limits: limitsShown.describe('The limits of all keys of the group together.'),
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
