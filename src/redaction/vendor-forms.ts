import { ownSecrets } from '../canonical/own-secrets.ts'
import {
  base64Characters,
  capitalsAndDigits,
  digits,
  dottedCharacters,
  hexDigits,
  keyCharacters,
  lettersAndDigits,
  slackCharacters,
  wordCharacters,
} from './runs.ts'

// The forms of keys, as documented by their vendors or by a maintained list of rules. Each new vendor needs a
// new line here; the tests use a sample of each form.

/** Where a form is documented, and when it was looked up. */
interface Source {
  url: string
  date: string
}

/** A key with a prefix. */
export interface VendorForm {
  kind: string
  /**
   * The characters with which the key begins. `trigger` is the part up to the first rare character, at which
   * a scan stops.
   */
  start: string
  trigger: string
  /**
   * The minimum number of characters after the trigger, and their kind. Some texts are cut to 64 characters
   * before they are searched.
   */
  least: number
  characters: number
  source: Source
}

const readOn = (url: string): Source => ({ url, date: '2026-11-28' })
const own = readOn('src/canonical/own-secrets.ts')
const gitleaks = readOn(
  'https://github.com/gitleaks/gitleaks/blob/009e025ad4106ab333aa0b9dc4f2a884390d134c/config/gitleaks.toml',
)
const kingfisher = readOn(
  'https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules',
)
const cerebras = readOn('https://cloud.cerebras.ai')
const docker = readOn('https://docs.docker.com/reference/api/hub/latest/operations/AuthCreateAccessToken.md')
const notion = readOn('https://developers.notion.com/reference/authentication')
const replicate = readOn('https://replicate.com/docs/topics/security/api-tokens')
const slack = readOn('https://docs.slack.dev/authentication/tokens')
const xai = readOn('https://console.x.ai')

/** A placeholder, because a JWT can have several kinds: see `jwtCharactersAt`. */
export const jwtCharacters = 0

const form = (
  source: Source,
  kind: string,
  start: string,
  least: number,
  characters = keyCharacters,
  trigger = start,
): VendorForm => ({ kind, start, trigger, least, characters, source })

/**
 * The first matching form determines the kind, so a longer start precedes a shorter one, and `csk-` precedes
 * `sk-`.
 */
// biome-ignore format: a table
export const tokens: readonly VendorForm[] = [
  form(gitleaks, 'anthropic-key', 'sk-ant-', 16, keyCharacters, 'sk-'),
  form(kingfisher, 'openrouter-key', 'sk-or-', 16, keyCharacters, 'sk-'),
  form(cerebras, 'cerebras-key', 'csk-', 16),
  form(gitleaks, 'openai-key', 'sk-', 12),
  form(kingfisher, 'groq-key', 'gsk_', 16),
  form(gitleaks, 'stripe-key', 'sk_live_', 16, keyCharacters, 'sk_'),
  form(gitleaks, 'stripe-key', 'sk_test_', 16, keyCharacters, 'sk_'),
  form(gitleaks, 'stripe-key', 'rk_live_', 16, keyCharacters, 'rk_'),
  form(gitleaks, 'stripe-key', 'rk_test_', 16, keyCharacters, 'rk_'),
  form(gitleaks, 'api-key', 'sk_', 24),
  form(gitleaks, 'google-key', 'AIza', 26, wordCharacters, 'AI'),
  form(kingfisher, 'google-token', 'GOCSPX-', 16),
  form(kingfisher, 'google-token', 'ya29.', 21, dottedCharacters, 'ya29'),
  form(gitleaks, 'aws-key-id', 'AKIA', 13, capitalsAndDigits, 'AKI'),
  form(gitleaks, 'aws-key-id', 'ASIA', 13, capitalsAndDigits, 'ASI'),
  form(gitleaks, 'github-token', 'github_pat_', 20, keyCharacters, 'github_'),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((start) => form(gitleaks, 'github-token', start, 16)),
  form(gitleaks, 'gitlab-token', 'glpat-', 12, dottedCharacters),
  ...['glptt-', 'gldt-', 'glcbt-', 'glft-', 'glffct-', 'glimt-', 'glagent-', 'gloas-', 'glsoat-'].map((start) =>
    form(gitleaks, 'gitlab-token', start, 20)),
  form(gitleaks, 'gitlab-token', 'glrt-', 20, dottedCharacters),
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxc-', 'xoxd-', 'xapp-'].map((start) =>
    form(slack, 'slack-token', start, 10, slackCharacters)),
  form(gitleaks, 'huggingface-token', 'hf_', 16),
  form(xai, 'xai-key', 'xai-', 16),
  form(replicate, 'replicate-token', 'r8_', 16),
  form(gitleaks, 'perplexity-key', 'pplx-', 16),
  form(kingfisher, 'nvidia-key', 'nvapi-', 16),
  form(kingfisher, 'langsmith-key', 'lsv2_pt_', 20, keyCharacters, 'lsv2_'),
  form(kingfisher, 'langsmith-key', 'lsv2_sk_', 20, keyCharacters, 'lsv2_'),
  form(gitleaks, 'npm-token', 'npm_', 16),
  form(gitleaks, 'pypi-token', 'pypi-', 16),
  form(gitleaks, 'rubygems-key', 'rubygems_', 32, hexDigits),
  form(gitleaks, 'sendgrid-key', 'SG.', 17, dottedCharacters, 'SG'),
  form(gitleaks, 'sendinblue-key', 'xkeysib-', 40),
  form(gitleaks, 'age-key', 'AGE-SECRET-KEY-1', 44, capitalsAndDigits, 'AGE-SECRET-KEY-'),
  form(gitleaks, 'atlassian-token', 'ATATT3', 56, base64Characters, 'ATA'),
  ...['dop_v1_', 'doo_v1_', 'dor_v1_'].map((start) =>
    form(gitleaks, 'digitalocean-token', start, 40, wordCharacters, start.slice(0, 4))),
  form(docker, 'docker-token', 'dckr_pat_', 20, keyCharacters, 'dckr_'),
  form(docker, 'docker-token', 'dckr_oat_', 20, keyCharacters, 'dckr_'),
  ...['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.'].map((start) =>
    form(gitleaks, 'doppler-token', start, 40, dottedCharacters, 'dp')),
  form(kingfisher, 'figma-token', 'figd_', 20),
  form(gitleaks, 'fly-token', 'fo1_', 40),
  ...['fm1a_', 'fm1r_', 'fm2_'].map((start) => form(gitleaks, 'fly-token', start, 56, base64Characters)),
  form(gitleaks, 'grafana-token', 'glsa_', 32),
  form(gitleaks, 'grafana-token', 'glc_', 32, base64Characters),
  form(gitleaks, 'grafana-token', 'eyJrIjoi', 56, base64Characters, 'eyJ'),
  form(gitleaks, 'heroku-key', 'HRKU-', 40),
  form(gitleaks, 'jfrog-token', 'AKCp', 56, lettersAndDigits, 'AK'),
  form(gitleaks, 'jfrog-token', 'cmVmd', 55, lettersAndDigits, 'cmV'),
  form(gitleaks, 'linear-key', 'lin_api_', 30, keyCharacters, 'lin_'),
  form(gitleaks, 'mailgun-key', 'key-', 32, hexDigits),
  ...['NRAK-', 'NRII-', 'NRJS-'].map((start) => form(gitleaks, 'newrelic-key', start, 16)),
  form(gitleaks, 'notion-token', 'ntn_', 40, lettersAndDigits),
  form(notion, 'notion-token', 'secret_', 43, lettersAndDigits),
  ...['pscale_tkn_', 'pscale_oauth_', 'pscale_pw_'].map((start) =>
    form(gitleaks, 'planetscale-token', start, 30, dottedCharacters, 'pscale_')),
  form(gitleaks, 'postman-key', 'PMAK-', 40),
  form(gitleaks, 'prefect-key', 'pnu_', 32, lettersAndDigits),
  form(gitleaks, 'pulumi-token', 'pul-', 40, hexDigits),
  form(gitleaks, 'sentry-token', 'sntrys_', 40, base64Characters),
  form(gitleaks, 'sentry-token', 'sntryu_', 40, hexDigits),
  ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map((start) => form(gitleaks, 'shopify-token', start, 32, hexDigits)),
  form(gitleaks, 'square-token', 'sq0atp-', 20),
  form(gitleaks, 'square-token', 'sq0csp-', 20),
  form(gitleaks, 'square-token', 'EAAA', 40, wordCharacters),
  form(kingfisher, 'supabase-key', 'sbp_', 40, hexDigits),
  form(kingfisher, 'supabase-key', 'sb_secret_', 24, keyCharacters, 'sb_'),
  form(gitleaks, 'twilio-key', 'SK', 32, hexDigits),
  form(gitleaks, 'typeform-token', 'tfp_', 40, dottedCharacters),
  form(gitleaks, 'vault-token', 'hvs.', 24, dottedCharacters, 'hv'),
  form(gitleaks, 'vault-token', 'hvb.', 24, dottedCharacters, 'hv'),
  form(gitleaks, 'jwt', 'eyJ', 8, jwtCharacters),
  form(own, 'tollgate-key', ownSecrets.key, 12),
  ...[ownSecrets.apiToken, ownSecrets.session, ownSecrets.link].map((start) =>
    form(own, 'tollgate-key', start, 24, lettersAndDigits)),
  form(own, 'webhook-secret', ownSecrets.webhook, 24, base64Characters),
]

/**
 * A secret that has no prefix and is recognised by a character in its middle and by the text before and after
 * it.
 */
interface VendorShape {
  kind: string
  /** Matches that character, and can look at the text around it. */
  middle: RegExp
  /**
   * The characters directly before it and their number. If the number is fixed, `middle` has already checked
   * them.
   */
  before: { characters: number; least: number; most: number }
  /** Matches what follows it. */
  behind: RegExp
  source: Source
}

export const shapes: readonly VendorShape[] = [
  {
    kind: 'telegram-token',
    middle: /:(?=A[\w-]{33})/y,
    before: { characters: digits, least: 5, most: 16 },
    behind: /A[\w-]{33,36}/y,
    source: gitleaks,
  },
  {
    kind: 'discord-token',
    middle: /\.(?=[\w-]{6}\.[\w-]{27})/y,
    before: { characters: wordCharacters, least: 23, most: 28 },
    behind: /[\w-]{6}\.[\w-]{27,40}/y,
    source: kingfisher,
  },
  {
    kind: 'terraform-token',
    middle: /v(?=1\.)(?<=[A-Za-z0-9]{14}\.atlasv)/y,
    before: { characters: dottedCharacters, least: 20, most: 20 },
    behind: /1\.[\w=-]{40,70}/y,
    source: gitleaks,
  },
  {
    kind: 'databricks-token',
    middle: /p(?=i[0-9a-f]{8})(?<=dap)/y,
    before: { characters: lettersAndDigits, least: 2, most: 2 },
    behind: /i[0-9a-f]{32}(?:-[0-9])?/y,
    source: gitleaks,
  },
]

/** A webhook address, which is secret from a certain point in its path. */
interface WebhookForm {
  host: string
  path: RegExp
  source: Source
}

export const webhooks: readonly WebhookForm[] = [
  {
    host: 'hooks.slack.com',
    path: /\\{0,3}\/(?:services|workflows|triggers)\\{0,3}\//y,
    source: gitleaks,
  },
  { host: 'webhook.office.com', path: /\\{0,3}\/webhookb2\\{0,3}\//y, source: gitleaks },
  ...['discord.com', 'discordapp.com'].map((host) => ({
    host,
    path: /\\{0,3}\/api\\{0,3}\/(?:v[0-9]{1,2}\\{0,3}\/)?webhooks\\{0,3}\/[0-9]{1,20}\\{0,3}\//y,
    source: kingfisher,
  })),
]
