import { randomBytes } from 'node:crypto'
import {
  base64Characters,
  capitalsAndDigits,
  dottedCharacters,
  hexDigits,
  lettersAndDigits,
} from '../../src/redaction/runs.ts'
import { jwtCharacters, tokens, type VendorForm, webhooks } from '../../src/redaction/vendor-forms.ts'

/** A made-up secret. Redaction must leave no part of `random`. */
export interface PlantedSecret {
  kind: string
  text: string
  random: string
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function randomText(length: number, letters = alphabet): string {
  return Array.from(randomBytes(length), (byte) => letters[byte % letters.length]).join('')
}

const plant = (kind: string, random: string, before: string, after = ''): PlantedSecret => ({
  kind,
  text: before + random + after,
  random,
})

const base64 = (bytes: number) => randomBytes(bytes).toString('base64')
const base64Lines = (bytes: number, newline: string) =>
  base64(bytes).replace(/.{64}/g, (line) => line + newline)
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Tokens that redaction knows by their form, at any place. */
export function plantedTokens(): PlantedSecret[] {
  return [
    plant('openai-key', randomText(48), 'sk-'),
    plant('openai-key', `${randomText(70)}-_${randomText(60)}`, 'sk-proj-'),
    plant('openai-key', randomText(40), 'sk-svcacct-'),
    plant('anthropic-key', `${randomText(93)}AA`, 'sk-ant-api03-'),
    plant('openrouter-key', randomText(64, '0123456789abcdef'), 'sk-or-v1-'),
    plant('google-key', randomText(35), 'AIza'),
    plant('aws-key-id', randomText(16, upper), 'AKIA'),
    plant('aws-key-id', randomText(16, upper), 'ASIA'),
    plant('github-token', randomText(36), 'ghp_'),
    plant('github-token', randomText(36), 'gho_'),
    plant('github-token', randomText(36), 'ghs_'),
    plant('github-token', `${randomText(22)}_${randomText(59)}`, 'github_pat_'),
    plant('gitlab-token', randomText(20), 'glpat-'),
    plant('slack-token', `${randomText(12, '0123456789')}-${randomText(24)}`, 'xoxb-'),
    plant('slack-token', `${randomText(12, '0123456789')}-${randomText(32)}`, 'xoxp-'),
    plant('stripe-key', randomText(24), 'sk_live_'),
    plant('stripe-key', randomText(24), 'rk_live_'),
    plant('huggingface-token', randomText(34), 'hf_'),
    plant('groq-key', randomText(52), 'gsk_'),
    plant('xai-key', randomText(80), 'xai-'),
    plant('replicate-token', randomText(37), 'r8_'),
    plant('perplexity-key', randomText(48), 'pplx-'),
    plant('npm-token', randomText(36), 'npm_'),
    plant('sendgrid-key', `${randomText(22)}.${randomText(43)}`, 'SG.'),
    plant('jwt', `${randomText(33)}.eyJ${randomText(90)}.${randomText(43)}`, 'eyJ'),
    plant('jwt', `${randomText(33)}.eyJ${randomText(1500)}.${randomText(342)}`, 'eyJ'),
    plant('bearer-token', randomText(40), 'Bearer '),
    plant('bearer-token', randomText(40), 'authorization: bearer '),
    plant(
      'basic-credentials',
      Buffer.from(`user:${randomText(20)}`)
        .toString('base64')
        .replaceAll('=', ''),
      'Basic ',
    ),
    plant('url-credentials', `admin:${randomText(18)}`, 'postgres://', '@db.example.com/main'),
    plant('tollgate-key', randomText(40), 'tg-'),
  ]
}

const hex = '0123456789abcdef'
const digits = '0123456789'

/** One of each form that `vendor-forms.ts` lists. */
export function plantedForms(): PlantedSecret[] {
  return [
    ...tokens.map(plantedForm),
    plant('telegram-token', `A${randomText(34)}`, `${randomText(10, digits)}:`),
    plant('discord-token', `${randomText(6)}.${randomText(38)}`, `M${randomText(23)}.`),
    plant('terraform-token', randomText(64), `${randomText(14)}.atlasv1.`),
    ...webhooks.map(({ host }) =>
      plant('webhook-address', randomText(48), `https://${host}/${pathOf(host)}`),
    ),
    plant('databricks-token', randomText(32, hex), 'dapi'),
  ]
}

function plantedForm({ kind, start, least, characters }: VendorForm): PlantedSecret {
  if (characters === jwtCharacters) return plant(kind, `${randomText(33)}.eyJ${randomText(40)}`, start)
  return plant(kind, randomText(Math.max(least, 20), alphabets.get(characters) ?? alphabet), start)
}

const alphabets: ReadonlyMap<number, string> = new Map([
  [hexDigits, hex],
  [capitalsAndDigits, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'],
  [lettersAndDigits, alphabet],
  [dottedCharacters, `${alphabet}.-`],
  [base64Characters, `${alphabet}+/`],
])

function pathOf(host: string): string {
  if (host === 'hooks.slack.com') return 'services/T0A1B2C3D/B0A1B2C3D/'
  return host.startsWith('discord') ? 'api/webhooks/123456789012345678/' : 'webhookb2/'
}

/** Values that commands, headers and files of settings announce. */
export function plantedContexts(): PlantedSecret[] {
  const password = () => randomText(20)
  return [
    plant('password', password(), '<password>', '</password>'),
    plant('password', password(), '<db_password>', '</db_password>'),
    plant('password', password(), 'SMTP_PASS='),
    plant('password', password(), 'pass: '),
    plant('password', password(), 'dbPass: "', '"'),
    plant('api-key', randomText(64, hex), 'SECRET_KEY_BASE='),
    plant('password', password(), 'mysqldump --password '),
    plant('password', password(), "mysqldump --db-password '", "' main"),
    plant('token', password(), 'deploy --token '),
    plant('secret', password(), "define('DB_PASSWORD', '", "');"),
    plant('secret', password(), 'define( "AUTH_KEY",  "', '" );'),
    plant('password', password(), 'curl -u admin:', ' https://a.example'),
    plant('password', password(), 'curl -s --user "admin:', '" https://a.example'),
    plant('password', password(), "sshpass -p '", "' ssh a.example"),
    plant('password', password(), 'machine a.example login bob password '),
    plant('password', password(), 'machine a.example\n  login bob\n  password '),
    plant('cookie', password(), 'Cookie: session='),
    plant('cookie', password(), 'Cookie: theme=dark; session='),
    plant('cookie', password(), 'Set-Cookie: sid=', '; Path=/; HttpOnly'),
    plant('basic-credentials', base64(30), '{"auths": {"https://index.docker.io/v1/": {"auth": "', '"}}}'),
  ]
}

/** Values that redaction knows by the name before them, in the forms of assignments outside of JSON. */
export function plantedAssignments(): PlantedSecret[] {
  return [
    plant('secret', `${randomText(20)}/${randomText(19)}`, 'aws_secret_access_key = '),
    plant('api-key', randomText(32), 'AZURE_API_KEY='),
    plant('api-key', randomText(32), 'api-key: '),
    plant('api-key', randomText(84), 'AccountKey='),
    plant('password', `${randomText(8)}!${randomText(8)}`, 'password='),
    plant('password', randomText(16), 'Password: '),
    plant('secret', randomText(32), 'client_secret='),
    plant('token', randomText(32), 'access_token='),
    plant('authorization', randomText(32), 'Authorization: '),
    plant('signature', randomText(43), 'https://x.blob.example.net/a?sv=1&sig='),
  ]
}

/** Private keys as files hold them, and as JSON strings do. */
export function plantedKeys(newline: string): PlantedSecret[] {
  return ['RSA ', 'EC ', 'OPENSSH ', ''].map((name) =>
    plant(
      'private-key',
      base64Lines(name === 'EC ' ? 121 : 1190, newline),
      `-----BEGIN ${name}PRIVATE KEY-----${newline}`,
      `${newline}-----END ${name}PRIVATE KEY-----`,
    ),
  )
}

/** The longest part of the secret that a text still shows, if 12 characters or more. */
export function leak(text: string, secret: PlantedSecret): string | undefined {
  const random = secret.random
    .replaceAll('\r', '')
    .split(/\n|\\+n/)
    .filter((line) => line.length >= 12)
  for (const line of random) {
    for (let at = 0; at + 12 <= line.length; at++) {
      const part = line.slice(at, at + 12)
      if (text.includes(part)) return part
    }
  }
  return undefined
}
