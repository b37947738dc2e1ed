import { z } from 'zod'
import type { ImageTraits } from '../../canonical/image.ts'
import { integer, jsonb, sql, text } from '../drizzle.cjs'
import { formOf } from './form.ts'
import { setting, settingOf } from './setting.ts'
import { imageWord, name, plainMembers, snakeCased, wholeNumber } from './values.ts'

const sizes = 'Names and sizes'
const pictures = 'Images it makes'
/** Checked across entries in catalog/references.ts. */
const otherNames = z.array(name(256)).default([])
const tokenCount = wholeNumber(1, 2_147_483_647).optional()
const imageWords = z.array(imageWord).min(1).exactOptional()

/** Absent settings stay absent, because the result is compared with rows, which omit them too. */
const imageTraits = z
  .strictObject({
    sizes: imageWords,
    qualities: imageWords,
    styles: imageWords,
    backgrounds: imageWords,
    output_formats: imageWords,
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

const words = (label: string, placeholder: string) =>
  ({ section: pictures, label, kind: 'tags', placeholder }) as const
const most = (label: string) => ({ section: pictures, label, kind: 'integer' }) as const

/** The settings of a model, besides its id, price and traits. */
export const settingsOfModels = {
  /** Other names under which clients can call it. */
  aliases: setting('aliases', {
    entry: otherNames,
    column: () => text('aliases').array().notNull().default(sql`'{}'`),
    shown: z.array(z.string()),
    form: { section: sizes, label: 'Aliases', kind: 'tags', about: 'Other names that clients may use' },
  }),
  /** The ids of models that are tried, in this order, if none of its channels can answer. */
  fallbacks: setting('fallbacks', {
    entry: otherNames,
    column: () => text('fallbacks').array().notNull().default(sql`'{}'`),
    shown: z.array(z.string()),
    form: {
      section: sizes,
      label: 'Fallbacks',
      kind: 'tags',
      about: 'Models that are tried in this order if none of its channels can answer',
      suggests: 'models',
    },
  }),
  context_length: setting('contextLength', {
    entry: tokenCount,
    column: () => integer('context_length'),
    shown: z.int().nullable(),
    form: { section: sizes, label: 'Context, tokens', kind: 'integer' },
  }),
  max_output_tokens: setting('maxOutputTokens', {
    entry: tokenCount,
    column: () => integer('max_output_tokens'),
    shown: z.int().nullable(),
    form: { section: sizes, label: 'Max output, tokens', kind: 'integer' },
  }),
  /** Paths of request members for which none of its channels adds input. */
  plain_members: setting('plainMembers', {
    entry: plainMembers,
    column: () => text('plain_members').array().notNull().default(sql`'{}'`),
    shown: z
      .array(z.string())
      .describe('Request members for which no vendor adds input beyond what the body contains.'),
    form: {
      section: sizes,
      label: 'Plain members',
      kind: 'tags',
      about: 'Members of requests for which no vendor adds input, as a refusal names them',
    },
  }),
  /** The image requests that it accepts. If absent, only channels that speak the format are called. */
  images: settingOf({
    entry: imageTraits.optional(),
    part: (images) => ({ images }),
    columns: () => ({ images: jsonb('images').$type<ImageTraits>() }),
    write: ({ images = null }) => ({ images }),
    read: ({ images }): { images: ImageTraits | undefined } => ({ images: images ?? undefined }),
    shown: z.record(z.string(), z.unknown()).nullable(),
    json: ({ images }) => (images === undefined ? null : snakeCased(images)),
    form: {
      sizes: words('Sizes', '1024x1024'),
      qualities: words('Qualities', 'high'),
      styles: words('Styles', 'vivid'),
      backgrounds: words('Backgrounds', 'opaque'),
      output_formats: words('Formats', 'png'),
      images_max: most('Images a request'),
      partial_images_max: most('Previews an image'),
      prompt_characters_max: most('Characters of a prompt'),
    },
  }),
}

export const modelForm = formOf(settingsOfModels, [
  { title: sizes },
  { title: pictures, about: 'What it accepts. All empty: not known, or it makes none.' },
])
