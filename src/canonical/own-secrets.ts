/**
 * The prefixes of our own secrets. Code that makes a secret takes its prefix from this list, so that
 * redaction knows them all.
 */
export const ownSecrets = {
  key: 'tg-',
  apiToken: 'tga_',
  session: 'tgs_',
  link: 'tgl_',
  /** Of the Standard Webhooks: others make such secrets too. */
  webhook: 'whsec_',
  /** Of one run, on loopback. */
  probe: 'probe-',
  playground: 'play-',
} as const

export type OwnSecret = (typeof ownSecrets)[keyof typeof ownSecrets]
