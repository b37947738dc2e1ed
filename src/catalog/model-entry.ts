import { z } from 'zod'
import type { ImageTraits } from '../canonical/image.ts'
import { name, plainMembers, wholeNumber } from '../db/settings/values.ts'
import { imageWord, priceEntry } from './price-entry.ts'
import { traitEntry } from './trait-entry.ts'

const imageWords = z.array(imageWord).min(1)

/** Absent settings stay absent, because the result is compared with rows, which omit them too. */
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

/** Checked across entries in references.ts. */
const otherNames = z.array(name(256)).default([])

/** An entry of `models` in gateway.yaml. */
export const modelEntry = z
  .strictObject({
    id: name(256),
    aliases: otherNames,
    fallbacks: otherNames,
    plain_members: plainMembers,
    context_length: tokenCount.optional(),
    max_output_tokens: tokenCount.optional(),
    price: priceEntry.optional(),
    images: imageTraits.optional(),
    traits: traitEntry.optional(),
  })
  .transform((m) => ({
    id: m.id,
    aliases: m.aliases,
    fallbacks: m.fallbacks,
    plainMembers: m.plain_members,
    contextLength: m.context_length,
    maxOutputTokens: m.max_output_tokens,
    price: m.price,
    images: m.images,
    traits: m.traits,
  }))
