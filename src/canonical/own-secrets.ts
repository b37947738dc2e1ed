/**
 * The prefixes of our own secrets. Code that creates a secret takes its prefix from this list, so redaction
 * covers all of them.
 */
export const ownSecrets = {
  key: 'tg-',
  apiToken: 'tga_',
  session: 'tgs_',
  link: 'tgl_',
  /** The prefix that Standard Webhooks define, which other products use too. */
  webhook: 'whsec_',
} as const

export type OwnSecret = (typeof ownSecrets)[keyof typeof ownSecrets]
