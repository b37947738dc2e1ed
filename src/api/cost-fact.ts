import { z } from 'zod'

const count = z.int()

/** A line of `cost_facts` in a row. Parts are open: another release may have written the row. */
export const costFact = z
  .looseObject({
    part: z
      .string()
      .describe(
        '`cache_write_1h`, `audio_input`, `audio_output`, `web_searches`, `service_tier` or `model`.',
      ),
    count: count.optional().describe('Tokens, or searches. Tokens are a part of those in `tokens`.'),
    name: z.string().optional().describe("Of a service tier or a model, in the upstream's words."),
    tokens: z
      .object({ input: count, cache_read: count, cache_write: count, output: count, reasoning: count })
      .optional()
      .describe('What another model used on the same answer. `tokens` of the row excludes them.'),
    cost_nano_usd: z.string().nullish().describe('What that model cost; null where its price is not known.'),
    price_id: z.uuid().nullish().describe('The price of that model.'),
  })
  .meta({ id: 'CostFact' })
