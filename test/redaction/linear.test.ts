import { describe, expect, test } from 'vitest'
import { redactBody, redactText } from '../../src/redaction/redact.ts'
import { base64Characters, hexDigits } from '../../src/redaction/runs.ts'
import { findSecrets } from '../../src/redaction/secrets.ts'
import { tokens } from '../../src/redaction/vendor-forms.ts'
import { amount } from '../support/amount.ts'
import { type Random, seeded } from '../support/random.ts'
import { sourcesIn } from '../support/sources.ts'
import { readsIn } from './count-reads.ts'
import { widthOf } from './pattern-width.ts'
import { plainSearch } from './plain-search.ts'
import {
  plantedAssignments,
  plantedContexts,
  plantedForms,
  plantedKeys,
  plantedTokens,
} from './planted-secrets.ts'

/** The most characters that one search hands to all its matchers, for each character of its text. */
const readsPerCharacter = 32

/** Beginnings of secrets, to be repeated. */
const beginnings: readonly string[] = [
  ...tokens.flatMap(({ start }) => [
    start,
    `x${start}`,
    `x${start}a`,
    `x${start}${'a'.repeat(26)}`,
    `-${start}a`,
    `x${start}aaaa.`,
    `\\n${start}a`,
    `%20${start}a`,
  ]),
  ...['eyJ.', 'xeyJaaaaaaaa.', 'eyJaaaaaaa..', '.eyJ', 'xeyJa.eyJa.', `x${'eyJ'.repeat(70)} `],
  ...['-----BEGIN ', '-----BEGIN A ', '-----BEGIN A B C PRIVATE', '-----BEGIN PRIVATE KEY-----', '-----'],
  ...['-----END ', 'AAAA-----END ', 'A\\n-----END PRIVATE', '-----END A B C ', '-', '-----BEGIN -----END '],
  ...[
    'password:',
    'password="',
    "password='",
    'password:`',
    'password:\\"',
    'password:\\\\\\"',
    'password=>',
  ],
  ...[
    'password:  ',
    'password: \\',
    'password"\\\\\\:',
    'password":',
    'token: "a" ',
    "token:'a'",
    'password: "a\\"',
  ],
  ...['api_key:', 'x-api-key:', 'key:', 'key=', 'api-key: Bearer ', 'password: Bearer + ', 'token=token='],
  ...[
    'subscription_key*******:',
    'credentials=',
    'authorization:',
    '&sig=',
    'x-amz-signature=',
    'secret:\\/',
  ],
  ...[
    '://',
    ':\\/\\/',
    ':\\\\\\',
    ':/',
    '://a@',
    '://a:b',
    '://a@b@',
    `://${'a'.repeat(600)} `,
    'a://a:',
    ':',
  ],
  ...[
    'Bearer ',
    'Bearer+',
    'bearer ++',
    'basic ',
    'basic a',
    'Basic aaaaaaaa ',
    'Bearer aaaaaaaaa\\',
    'bearer \\/',
  ],
  ...[
    'com/services/',
    'hooks.slack.com/services/',
    'discord.com/api/webhooks/1/',
    '1234567:A',
    'aaaaaaaaaaaaaaaaaaaaaaaa.aaaaaa.',
    'aaaaaaaaaaaaaa.atlasv1.',
    '0123456789abcdef0123456789abcdef-01234567-',
    'dapi0123456789abcdef',
  ],
  ...[
    'pass:',
    'PASS:',
    'a_pass=',
    'SECRET_KEY_BASE=',
    '<password>',
    '</password>',
    'password>',
    '>',
    '<a_password> ',
  ],
  ...[
    '"auth":"',
    '"auth":"\\"',
    '\\"auth\\":\\"aa',
    'auth":',
    'cookie:',
    'Cookie: a=',
    'cookie: "a=',
    'set-cookie: a',
  ],
  ...[
    '--',
    '--a',
    '--a ',
    '--password ',
    '--password "',
    '--token-',
    "--secret '",
    '--password --',
    '--a-token',
  ],
  ...[
    '-u ',
    'curl -u ',
    'curl -u "',
    'curl -u a:',
    'curl --user ',
    'curl ',
    '-u "a',
    'sshpass -p ',
    "sshpass -p'",
  ],
  ...['password ', 'login a password ', 'login ', 'login\\na\\npassword\\n', ' password \\n'],
  ...["define('A_KEY', '", "define('A_KEY'", "_KEY', '", '_PASSWORD"', 'define("_TOKEN","', 'A_'],
  ...['\\u002d', '\\u0041-', '\\\\u0020', 'sk\\u002d', 'password\\u003a', '\\u0022', '%5Cn', '%5c'],
  ...['%', '%2', '%20', '%41', '%5C', '%5c%22', '%73%6b%2d', 'x%53%47.', '%70assword%3a', '%25', '%e9'],
  ...[
    '\\',
    '\\\\"',
    '"',
    '\\u0041',
    '\\u00',
    ' ',
    '\n',
    '\\n',
    'A',
    'a',
    '1',
    '*',
    '_',
    '.',
    '\u{1f680}',
    '\0',
  ],
]

/** All beginnings but those of forms, of which one of `each` is taken: they differ in their characters alone. */
const sampled = (each: number) => beginnings.filter((_, at) => at % each === 0 || at >= 8 * tokens.length)

/** A tail that one of many beginnings would have to read again. */
const tails = [
  '',
  'a'.repeat(1500),
  'aA1'.repeat(700),
  '\\'.repeat(2000),
  ' '.repeat(2000),
  '"'.repeat(2000),
  '@',
  '/',
]

const repeated = (unit: string, length: number) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

describe('a search hands its matchers at most a constant times the characters of its text', () => {
  test('for the beginning of every secret, repeated', () => {
    for (const unit of beginnings) expectLinear(unit, (length) => repeated(unit, length))
  })

  test('for the beginning of every secret, repeated, and a long tail', () => {
    for (const unit of sampled(9))
      for (const tail of tails)
        expectLinear(`${unit} + ${tail.slice(0, 9)}`, (length) => repeated(unit, length) + tail, [1000])
  })

  test('for random beginnings', () => {
    const random = seeded(71)
    for (let turn = 0; turn < amount('REDACTION_MIXES', { test: 40, chaos: 4000 }); turn++) {
      const units = Array.from({ length: 1 + random.upTo(4) }, () => random.pick(beginnings))
      expectLinear(units.join('|'), (length) => repeated(units.join(''), length))
    }
  })

  function expectLinear(unit: string, textOf: (length: number) => string, lengths = [400, 3200]) {
    for (const length of lengths) {
      const text = textOf(length)
      const reads = readsIn(() => void findSecrets(text))
      expect(reads / text.length, `${JSON.stringify(unit)}, ${length} characters`).toBeLessThan(
        readsPerCharacter,
      )
    }
  }
})

test('a text is cut at its bound before it is searched', () => {
  const exact = ['a secret that is known by its value']
  for (const unit of sampled(9)) {
    const text = repeated(unit, 400_000)
    const reads = readsIn(() => void redactText(text, exact, 256))
    expect(reads, JSON.stringify(unit)).toBeLessThan(2 * readsPerCharacter * (256 + 1024))
  }
})

test('a secret that lies across the bound of a text leaves nothing of itself', () => {
  const exact = [`known-${'by value '.repeat(200)}`]
  const secrets = [...plantedTokens(), ...plantedForms(), ...plantedAssignments(), ...plantedKeys('\n')]
  const all = [...secrets, { kind: 'key', text: exact[0] ?? '', random: exact[0] ?? '' }]
  for (const { kind, text, random } of all) {
    for (let shown = 1; shown < Math.min(text.length, 120); shown += 7) {
      const cut = redactText(`${'x '.repeat(50)}${text} ${'and so on '.repeat(500)}`, exact, 100 + shown)
      const end = text.indexOf(random.slice(0, 12))
      expect(cut, kind).not.toContain(random.slice(0, 12))
      if (shown > end) expect(cut, kind).toContain('[REDACTED ')
    }
  }
})

test('a cut splits no surrogate pair', () => {
  expect(redactText('ab\u{1f680}'.repeat(9), [], 3)).toBe('ab')
  expect(redactText('ab\u{1f680}'.repeat(9), [], 4)).toBe('ab\u{1f680}')
})

test('a body is redacted in a constant times the characters that are kept of it', () => {
  const bounds = { key: Buffer.from('key'), bytesMax: 8192, stringBytesMax: 2048 }
  for (const unit of sampled(13)) {
    const inJson = JSON.stringify(unit).slice(1, -1)
    for (const text of [repeated(inJson, 40_000), `${repeated(inJson, 1800)}","`.repeat(20)]) {
      const body = Buffer.from(`{"content":["${text}"]}`)
      const reads = readsIn(() => void redactBody(body, 'content', bounds))
      expect(reads / bounds.bytesMax, JSON.stringify(unit)).toBeLessThan(8 * readsPerCharacter)
    }
  }
})

test('random texts have the secrets that a plain search finds', () => {
  const random = seeded(72)
  for (let turn = 0; turn < amount('REDACTION_TEXTS', { test: 1500, chaos: 300_000 }); turn++) {
    const text = Array.from({ length: 1 + random.upTo(14) }, () => pieceOf(random)).join('')
    expect(findSecrets(text), JSON.stringify(text)).toEqual(plainSearch(text))
  }
})

test('a secret is found directly after the beginning of something else', () => {
  const key = 'Zx81kQpV0rT3yUq9LmNc42HbWdEf7GjK5aSoP6iX'
  for (const { start, least, characters } of tokens) {
    if (start.startsWith('A') || start.startsWith('eyJ') || least > 32) continue
    if (characters === hexDigits || characters === base64Characters) continue
    for (const before of [
      'task-',
      'xsk-aaaaaaaaaaaa',
      'xsk-aaaaaaaaaaaa-',
      'desk-lamp.',
      `x${start}aaaaaaaaaaaaaaaa-`,
      `x${start}`,
    ]) {
      expect(redactText(`${before}${start}${key} then`), before + start).not.toContain(key.slice(0, 12))
    }
  }
})

function pieceOf(random: Random): string {
  switch (random.upTo(9)) {
    case 0:
    case 1:
    case 2:
      return random.pick(beginnings)
    case 3:
      return random.pick(shortTails)
    case 4:
      return random.pick([
        '"',
        '\\"',
        "'",
        '`',
        '\\',
        '\\\\',
        '\\n',
        '\\/',
        ' ',
        '\n',
        '\t',
        ',',
        '.',
        '-',
        '=',
        ': ',
        '@',
      ])
    case 5:
      return encodeURIComponent(random.pick(beginnings).replace('\0', '').toWellFormed())
    case 6:
      return random.pick([
        'a',
        'A',
        '1',
        'x',
        '+',
        '/',
        '%',
        '*',
        '_',
        'é',
        '\u00a0',
        '\u2003',
        '東',
        'ſ',
        'Y',
        'z',
      ])
    case 7:
      return random.pick([
        'the',
        'task',
        'key',
        'Password',
        'TOKEN',
        'Basic',
        'x-api-',
        'client_',
        'https',
        'user:pass@',
      ])
    default:
      return random.pick(wholeSecrets)
  }
}

const shortTails = [
  'aaaaaaaa',
  'Aa1Aa1Aa1Aa1',
  'a'.repeat(30),
  '1'.repeat(17),
  'ABCDEFGH1234567',
  '+'.repeat(9),
  'a.b.c.d.e.f.g',
]
const wholeSecrets = [
  ...plantedTokens(),
  ...plantedForms(),
  ...plantedAssignments(),
  ...plantedContexts(),
  ...plantedKeys('\n').slice(1, 2),
].map(({ text }) => text)

describe('the patterns of src/redaction', () => {
  const patterns = sourcesIn('src/redaction').flatMap(({ file, text }) =>
    literalsIn(text).map((source) => ({ file, source })),
  )

  test('have upper bounds, and look at few characters from one place', () => {
    expect(patterns.length).toBeGreaterThan(20)
    for (const { file, source } of patterns) expect(widthOf(source), `${file}: /${source}/`).toBeLessThan(160)
  })

  test('without an upper bound, or tried twice, are refused', () => {
    for (const source of ['a*', 'a+b', 'a{3,}', '(?:a{1,9}){1,99}', '(?<=x[ab]+)', '(?:a|b+)c', '[*+]a*'])
      expect(() => widthOf(source), source).toThrow()
    for (const [source, width] of [
      ['[*+]\\*\\+', 3],
      ['(?:ab?|c){0,3}', 6],
      ['(?<=a{2})b|c{1,9}', 9],
      ['^a$', 1],
    ] as const)
      expect(widthOf(source)).toBe(width)
  })
})

/** The regular expressions that a file writes as literals. Those made of strings are seen where they run. */
function literalsIn(text: string): string[] {
  const code = text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')
  return [
    ...code.matchAll(
      /(?<=[(=,:?!&|\s])\/(?![/*\s])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/[dgimsuvy]*/g,
    ),
  ].map((match) => match[1] ?? '')
}
