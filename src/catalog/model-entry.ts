import { z } from 'zod'
import type { ImageTraits } from '../canonical/image.ts'
import { mustBe, name, usd, wholeNumber } from './setting.ts'
import type { ImageRate } from './snapshot.ts'
import { traitEntry } from './trait-entry.ts'

/** A size, a quality and the like, as clients write it. */
const imageWord = name(64)

const madeIn = imageWord.refine((word) => word !== 'auto', {
  error: mustBe('one that images are made in; "auto" costs what comes of it'),
})

const imageRate = z
  .strictObject({ size: madeIn.optional(), quality: madeIn.optional(), usd })
  .refine(({ size, quality }) => size !== undefined || quality !== undefined, {
    error: mustBe('for a size, a quality or both; the price of all other images is "image"'),
  })
  .transform(({ size, quality, usd }): ImageRate => ({ size, quality, nano: usd }))

const imageRates = z
  .array(imageRate)
  .max(100, mustBe('a list of at most 100 prices'))
  .superRefine((rates, context) => {
    const seen = new Map<string, number>()
    for (const [index, { size, quality }] of rates.entries()) {
      const pair = JSON.stringify([size, quality])
      const first = seen.get(pair)
      if (first === undefined) seen.set(pair, index)
      else {
        const message = `is for the same size and quality as images[${first}]`
        context.addIssue({ code: 'custom', path: [index], message })
      }
    }
  })

const price = z
  .strictObject({
    input: usd.optional(),
    cache_read: usd.optional(),
    cache_write: usd.optional(),
    output: usd.optional(),
    reasoning: usd.optional(),
    image: usd.optional(),
    images: imageRates.default([]),
  })
  .transform((p) => ({
    input: p.input,
    cacheRead: p.cache_read,
    cacheWrite: p.cache_write,
    output: p.output,
    reasoning: p.reasoning,
    image: p.image,
    imageRates: p.images,
  }))

const imageWords = z.array(imageWord).min(1)

/** Absent settings stay absent: the result is compared with rows, which leave them out as well. */
const imageTraits = z
  .strictObject({
    sizes: imageWords.exactOptional(),
    qualities: imageWords.exactOptional(),
    styles: imageWords.exactOptional(),
    backgrounds: imageWords.exactOptional(),
    output_formats: imageWords.exactOptional(),
    images_max: wholeNumber(1, 10).optional(),
    partial_images_max: wholeNumber(0, 3).optional(),
    prompt_characters_max: wholeNumber(1, 2_147_483_647).optional(),
  })
  .transform(
    ({ output_formats, images_max, partial_images_max, prompt_characters_max, ...lists }): ImageTraits => ({
      ...lists,
      ...(output_formats !== undefined && { outputFormats: output_formats }),
      ...(images_max !== undefined && { imagesMax: images_max }),
      ...(partial_images_max !== undefined && { partialImagesMax: partial_images_max }),
      ...(prompt_characters_max !== undefined && { promptCharactersMax: prompt_characters_max }),
    }),
  )

const tokenCount = wholeNumber(1, 2_147_483_647)

/** references.ts checks them across entries. */
const otherNames = z.array(name(256)).default([])

/** An entry of `models` in gateway.yaml. */
export const modelEntry = z
  .strictObject({
    id: name(256),
    aliases: otherNames,
    fallbacks: otherNames,
    context_length: tokenCount.optional(),
    max_output_tokens: tokenCount.optional(),
    price: price.optional(),
    images: imageTraits.optional(),
    traits: traitEntry.optional(),
  })
  .transform((m) => ({
    id: m.id,
    aliases: m.aliases,
    fallbacks: m.fallbacks,
    contextLength: m.context_length,
    maxOutputTokens: m.max_output_tokens,
    price: m.price,
    images: m.images,
    traits: m.traits,
  }))
