import { isUtf8 } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { redactBody, redactText } from '../../src/redaction/redact.ts'
import {
  leak,
  type PlantedSecret,
  plantedAssignments,
  plantedContexts,
  plantedForms,
  plantedKeys,
  plantedTokens,
  randomText,
} from './planted-secrets.ts'

const options = { key: Buffer.from('a key for hashes'), bytesMax: 64 * 1024, stringBytesMax: 8 * 1024 }
/** At least one of each kind. */
const allPlanted = (): PlantedSecret[] => [
  ...plantedTokens(),
  ...plantedForms(),
  ...plantedAssignments(),
  ...plantedContexts(),
  ...plantedKeys('\n'),
]
const prose = 'The quick brown fox said: "basic tasks" — naïve café, 東京 🚀, risk-averse & well-known.\n'

function redacted(
  body: string | Buffer,
  capture: 'content' | 'shape' = 'content',
  more: object = {},
): string {
  const kept = redactBody(Buffer.from(body), capture, { ...options, ...more })
  if (kept === null) throw new Error('nothing kept')
  expect(isUtf8(kept)).toBe(true)
  expect(kept.includes(0)).toBe(false)
  return kept.toString('utf8')
}

const encodeAll = (text: string) =>
  text.replace(/[^\\]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`)

const decodeAll = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))

const chat = (content: string) => JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] })

const ordinary: [string, string][] = [
  [
    'a git log',
    'commit 3f786850e387550fdab836ed7e6dc881de23001b\nAuthor: Ada <ada@a.example>\nindex 83baae6..ce01362 100644',
  ],
  [
    'hashes',
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855, md5 d41d8cd98f00b204e9800998ecf8427e',
  ],
  ['UUIDs', '018f4e6e-7c1a-7b3e-9c55-2f6f1c0a9d11 and 9b2de7a4-6a1c-4d34-8b0a-d5c0ffeeabcd'],
  [
    'an image in base64',
    `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg${'A'.repeat(300)}`,
  ],
  [
    'a text in base64, in which prefixes of vendors occur',
    ['cmVmd', 'EAAA', 'AKCp', 'AIza']
      .map(
        (start) => `dGhlIG5leHQ${start}YXMgZm9yIGluc3RhbmNlIHRoZSBvbmUgb2YgdGhlIHNlY29uZCBsaW5lMjM0NTY3ODkw`,
      )
      .join(''),
  ],
  [
    'a JPEG in base64',
    `/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAIBAQIBAQICAgICAgICAwUDAwMDAwYEBAMFBwYHBwcGBwcICQsJCAgKCAcHCg0KCgsMDAwMBwkODw0MDgsMDAz/`,
  ],
  [
    'names of models',
    'gpt-4o-mini-2024-07-18, claude-sonnet-4-5-20250929, gemini-2.5-pro, accounts/fireworks/models/llama-v3p1-405b-instruct',
  ],
  [
    'ids of answers',
    'chatcmpl-AbC123dEf456GhI789jKl012MnO345, msg_01XFDUDYJgAACzvnptvVoYEL, call_abc123DEF456ghi789JKL012, resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b, toolu_01A09q90qw90lq917835lq9, req_011CSHoEeqs5C35K2UUqR7Fy, fp_44709d6fcb',
  ],
  [
    'code',
    'const first_token_ms = row.firstTokenAt; if (key_id === null) return; const max_output_tokens = 4096; secret_name(); x.password?.length; use_api_key(); type Token = { kind: string }; a->pass_through; fn(pub_key, sub_key); this.someVeryLongMethodNameThatGoesOn()',
  ],
  [
    'TypeScript',
    'const options: { token?: string; password?: string | undefined } = {}\nasync function get(token: Token): Promise<Map<string, Token>> {}',
  ],
  [
    'output of tests',
    '--- PASS: TestThing/some-sub_test-1 (0.00s)\nPASS: gcc.dg/tree-ssa/foo-1.c (test for excess errors)\n12 passed, 3 skipped; bypass: not-a-secret-at-all-1',
  ],
  [
    'options of commands',
    'npm run build -- --watch; docker run -u 1000:1000 -p 8080:80 image; sudo -u postgres psql; python -u main.py; git push --force-with-lease; docker login --password-stdin; tool --token-file /etc/token --password required',
  ],
  [
    'prose',
    'Log in with your password and then reset the password before login. The login form password field is empty. A cookie: a small text file. Pass: the salt. Discord.com and hooks.slack.com are hosts. The auth: header is set.',
  ],
  [
    'markup',
    '<input type="password" name="pw"><label for="password">Your password</label><password></password> a => b, x >= y, <T extends Token>value',
  ],
  [
    'JSON schemas',
    '{"password": {"type": "string"}, "auth": {"type": "object"}, "token": null, "cookie": {"in": "cookie", "name": "session"}, "auth": "required", "secret": 12345678}',
  ],
  [
    'addresses',
    'https://a.example:8080/x/y?page=2&sort=asc#top, http://localhost:3000, s3://bucket/key-name/part-00000, discord.com/api/webhooks, https://hooks.slack.com/services/',
  ],
  [
    'names that begin like keys',
    'task-force-desk-lamp-and-more-words, probe-this-long-kebab-case-name-that-goes-on, play-store-release-notes-for-the-next-version, tga_texture_file, hf_hub_download, lin_reg, key-value-store-with-a-long-name, pul-request, dapi-server-configuration, secret_santa_list',
  ],
]

describe('content', () => {
  test('a body without secrets comes back as the same buffer', () => {
    const body = Buffer.from(
      chat(`${prose} max_tokens: 100, the key: value, task-force, https://example.com/a@b "token": "x"`),
    )
    expect(redactBody(body, 'content', options)).toBe(body)
  })

  test('prose with the words of secrets stays readable', () => {
    const text =
      'Basic understanding of bearer bonds. The password: required. A secret: nothing. sk-learn and desk-lamp. ' +
      'api_key=null, tokens: 4096, "keyword": "some longer words here", --- | ----- | , https://a.example:8080/x?y=z'
    expect(redactText(text)).toBe(text)
  })

  test.each(ordinary)('%s stays as it is', (_, text) => {
    expect(redactText(text, [], text.length)).toBe(text)
    const body = Buffer.from(chat(text))
    expect(redactBody(body, 'content', options)).toBe(body)
  })

  test('a private key is removed whole, whatever announces it, and however its line ends are written', () => {
    for (const [written, encode] of [
      ['\n', (text: string) => text],
      ['\\n', (text: string) => text],
      ['\n', encodeURIComponent],
      ['\\n', encodeURIComponent],
      ['\n', (text: string) => encodeURIComponent(text).replaceAll('%20', '+')],
    ] as const) {
      for (const secret of plantedKeys(written)) {
        for (const before of [
          'private_key: ',
          'PRIVATE_KEY=',
          "private_key: '",
          'secret = "',
          '"private_key":"',
          'key ',
        ]) {
          const text = encode(`${before}${secret.text}' and more`)
          for (const kept of [redactText(text, [], text.length), redacted(text), redacted(chat(text))])
            expect(leak(decodeAll(decodeAll(kept)), secret), kept).toBeUndefined()
        }
      }
    }
  })

  const asJson = (s: string) => JSON.stringify({ a: [s] })
  const nestings: [string, (secret: string) => string][] = [
    ['alone', (s) => s],
    ['in prose', (s) => `${prose} use ${s} please, ${prose}`],
    ['in a JSON string', (s) => chat(`${prose}use ${s}\nthen`)],
    ['after an escaped newline', (s) => chat(`line\n${s}\tnext`)],
    ['in JSON within JSON', (s) => chat(JSON.stringify({ a: s, b: prose }))],
    ['in JSON within JSON within JSON', (s) => chat(JSON.stringify({ a: JSON.stringify({ b: [s] }) }))],
    ['in JSON four levels deep', (s) => chat(asJson(asJson(asJson(s))))],
    ['as a JSON key', (s) => JSON.stringify({ [s]: 1 })],
    ['in quotes and code', (s) => chat(`const x = '${s}'; \`${s}\`; f("${s}")`)],
    ['with escaped slashes', (s) => chat(s).replaceAll('/', '\\/')],
    ['percent-encoded before it', (s) => chat(`a%20${s}`)],
    ['percent-encoded', (s) => chat(`${prose} GET /search?q=${encodeURIComponent(s)}&page=2`)],
    ['percent-encoded to the last character', (s) => chat(encodeAll(s))],
  ]
  test.each(nestings)('no planted secret survives %s', (_, nest) => {
    for (const secret of allPlanted()) {
      const body = nest(secret.text)
      const kept = redacted(body)
      expect(leak(kept, secret), `${secret.kind} in ${kept.slice(0, 400)}`).toBeUndefined()
      expect(kept).toContain('[REDACTED ')
      if (body.startsWith('{')) JSON.parse(kept)
      expect(leak(decodeAll(kept), secret)).toBeUndefined()
      expect(leak(decodeAll(redactText(body)), secret)).toBeUndefined()
      expect(leak(redacted(body, 'shape'), secret)).toBeUndefined()
    }
  })

  test('no form survives alone, in prose, in a string or in a URL', () => {
    for (const secret of allPlanted()) {
      for (const text of [
        secret.text,
        `use ${secret.text} please`,
        chat(secret.text),
        encodeURIComponent(secret.text),
      ])
        for (const kept of [redactText(text), redacted(text)])
          expect(leak(decodeAll(kept), secret), `${secret.kind} in ${kept}`).toBeUndefined()
    }
  })

  test('a key that was cut at 64 characters is found', () => {
    for (const { kind, text } of [...plantedTokens(), ...plantedForms()].filter(
      ({ kind }) => !/private-key|address/.test(kind),
    ))
      expect(redactText(text.slice(0, 64)), `${kind}: ${text}`).toContain('[REDACTED')
  })

  test('the placeholder names the kind of secret', () => {
    for (const secret of [...plantedTokens(), ...plantedForms(), ...plantedContexts()]) {
      if (secret.text.startsWith('authorization')) continue
      expect(redactText(`see ${secret.text} there`)).toContain(`[REDACTED ${secret.kind}]`)
    }
  })

  const members: [string, string][] = [
    ['api_key', 'api-key'],
    ['apiKey', 'api-key'],
    ['x-api-key', 'api-key'],
    ['password', 'password'],
    ['client_secret', 'secret'],
    ['authorization', 'authorization'],
    ['access_token', 'token'],
  ]
  test.each(members)('the value of the member %s is removed at any depth of quoting', (name, kind) => {
    for (const random of [randomText(24), `${randomText(9)} "${randomText(9)}\\ ${randomText(13)},;\n`]) {
      const secret = { kind, text: random, random: random.match(/\w{13,}/)?.[0] ?? '' }
      const levels = [
        JSON.stringify({ [name]: random, after: 1 }),
        JSON.stringify({ [name]: random, after: 1 }, null, 2),
      ]
      for (const inner of [...levels]) levels.push(chat(inner), chat(JSON.stringify({ text: inner })))
      for (const body of levels) {
        const kept = redacted(body)
        expect(leak(kept, secret), kept).toBeUndefined()
        expect(kept).toContain(`[REDACTED ${kind}]`)
        JSON.parse(kept)
        expect(kept).toContain('after')
      }
    }
  })

  test('unicode escapes of ASCII hide no secret', () => {
    const secret = { kind: 'password', random: randomText(20), text: '' }
    expect(leak(redacted(`{"content":"password\\u003d${secret.random}"}`), secret)).toBeUndefined()
    for (const text of [
      `s\\u006b\\u002d${secret.random}`,
      `password\\u003d${secret.random}`,
      `tga\\u005f${secret.random}${randomText(26)}`,
    ]) {
      for (const escaped of [text, text.replaceAll('\\', '\\\\'), text.replaceAll('\\', '\\\\\\\\')]) {
        const body = `{"content":"${escaped}","after":1}`
        expect(leak(redacted(body), secret), body).toBeUndefined()
        expect(JSON.parse(redacted(body)).after).toBe(1)
        expect(redactText(body)).toContain('[REDACTED ')
        expect(leak(redactText(body), secret), body).toBeUndefined()
      }
    }
  })

  test('a secret known by value is removed in any form', () => {
    const exact = ['correct horse battery', 'plain0123456789', 'naïve-schlüssel']
    const kept = redacted(chat(`xx${exact[0]}yy ${exact[1]}${exact[1]} ${exact[2]}`), 'content', { exact })
    for (const secret of exact) expect(kept).not.toContain(secret)
    expect(redactText(`refused key plain0123456789.`, exact)).toBe('refused key [REDACTED key].')
    expect(redacted(JSON.stringify({ model: 'plain0123456789' }), 'shape', { exact })).not.toContain(
      'plain0123456789',
    )
  })

  test('NUL bytes are escaped and invalid UTF-8 is replaced', () => {
    expect(redacted(Buffer.from([0x61, 0, 0x62, 0xff, 0x63]))).toBe('a\\u0000b\ufffdc')
    expect(redactText('a\0b\ud800')).toBe('a\\u0000b\ufffd')
  })

  test('nothing is kept of an empty body, with capture none, or with bytesMax 0', () => {
    expect(redactBody(Buffer.alloc(0), 'content', options)).toBeNull()
    expect(redactBody(Buffer.from('{}'), 'none', options)).toBeNull()
    expect(redactBody(Buffer.from('{}'), 'content', { ...options, bytesMax: 0 })).toBeNull()
  })
})

describe('truncation', () => {
  test('long strings are truncated in the middle and the JSON stays JSON', () => {
    const content = '🚀"\n'.repeat(8000)
    const kept = redacted(JSON.stringify({ a: 'short', content, after: true }))
    const parsed = JSON.parse(kept)
    expect(parsed.after).toBe(true)
    expect(parsed.content).toMatch(/^🚀"\n.* …\[\d+ bytes cut\]… .*🚀"\n$/s)
    expect(kept.length).toBeLessThan(9000)
  })

  test('a truncation splits no UTF-8 sequence, no escape and no surrogate pair, at any place', () => {
    const content = 'é漢🚀\n\\"\u0001'.repeat(30)
    const unicode = content
      .replace(/[\\"]/g, '')
      .replace(/[^\x20-\x7e]/gu, (character) =>
        Array.from(
          { length: character.length },
          (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
        ).join(''),
      )
    for (const text of [JSON.stringify({ content }), `{"content":"${unicode}"}`]) {
      for (let stringBytesMax = 64; stringBytesMax < 200; stringBytesMax++) {
        const kept = redacted(text, 'content', { stringBytesMax })
        expect(kept).not.toContain('\ufffd')
        expect(JSON.parse(kept).content.isWellFormed()).toBe(true)
      }
    }
  })

  test('a body is truncated to bytesMax, whatever its parts', () => {
    const many = JSON.stringify({
      messages: Array.from({ length: 5000 }, (_, i) => ({ role: 'user', content: `${i} ${prose}` })),
    })
    const few = JSON.stringify([prose.repeat(5000), prose.repeat(5000), 'the end'])
    for (const body of [many, few, prose.repeat(9000)]) {
      for (const bytesMax of [256, 4096, 65536]) {
        const kept = redacted(body, 'content', { bytesMax })
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(bytesMax)
        expect(redacted(body, 'shape', { bytesMax }).length).toBeLessThanOrEqual(bytesMax + 48)
      }
    }
    const cut = redacted(many, 'content', { bytesMax: 4096 })
    const bytes = Number(/…\[(\d+) bytes cut\]…/.exec(cut)?.[1])
    expect(Buffer.byteLength(cut) + bytes - Buffer.byteLength(` …[${bytes} bytes cut]… `)).toBe(
      Buffer.byteLength(many),
    )
    expect(cut.endsWith('}]}')).toBe(true)
  })

  test('the kept text of one body does not show in the next', () => {
    const bodyOf = (word: string) =>
      JSON.stringify([word.repeat(20_000), ...Array(5000).fill(word), word.repeat(20_000)])
    for (const bytesMax of [4096, 65536]) {
      const [first, second] = ['aaaaa ', 'ooooo '].map((word) =>
        redacted(bodyOf(word), 'content', { bytesMax }),
      )
      expect(second).not.toContain('a')
      expect(second).toBe(first?.replaceAll('a', 'o'))
      expect(second?.endsWith('ooooo "]')).toBe(true)
    }
  })

  const fillers: [string, string][] = [
    ['prose', 'some words go here and there, '],
    ['words without spaces', 'abcdefghij,klmnopqrst;'],
  ]
  test.each(fillers)(
    'no part of a secret that lies across a truncation survives, at any offset, in %s',
    (_, filler) => {
      const secrets = [
        ...plantedTokens(),
        ...plantedAssignments(),
        ...plantedContexts(),
        ...plantedKeys('\n'),
      ]
      const limits = { bytesMax: 3000, stringBytesMax: 1000 }
      for (const secret of secrets) {
        const escaped = JSON.stringify(secret.text).slice(1, -1)
        const step = Math.max(1, Math.floor(escaped.length / 60))
        for (const [edge, behind] of [
          [750, 3000],
          [3000, 250],
        ] as const) {
          for (let offset = 0; offset <= escaped.length + 2; offset += step) {
            const before = `${filler.repeat(200).slice(0, Math.max(0, edge - offset - 1))} `
            const after = ` ${filler.repeat(200).slice(0, Math.max(0, behind - (escaped.length - offset) - 1))}`
            const string = before + escaped + after
            const kept = redacted(`{"content":"${string}","after":1}`, 'content', limits)
            expect(leak(kept, secret), `${secret.kind} at ${offset} of ${edge}: ${kept}`).toBeUndefined()
            JSON.parse(kept)
            const whole = redacted(string, 'content', { bytesMax: 1048, stringBytesMax: 1000 })
            expect(
              leak(whole, secret),
              `${secret.kind} at ${offset} of ${edge}, whole: ${whole}`,
            ).toBeUndefined()
          }
        }
      }
    },
  )

  test('a private key without its first and last lines is dropped at a truncation', () => {
    for (const [newline, written] of [
      ['\n', '\\n'],
      ['\r\n', '\\r\\n'],
      ['\\n', '\\\\n'],
    ] as const) {
      const secret = { kind: 'private-key', text: '', random: '' }
      const [key] = plantedKeys('\n')
      const lines = (key?.random ?? '').trim().split('\n')
      secret.random = lines.join('\n')
      for (const joined of [lines.join(newline === '\\n' ? '\n' : newline), lines.join(written)]) {
        for (let behind = 20; behind < 240; behind++) {
          const body = `${'words, '.repeat(400)}-----BEGIN PRIVATE KEY-----${written}${joined.slice(0, 900 + behind)}`
          const tail = redacted(body, 'content', { bytesMax: 1000, stringBytesMax: 500 })
          expect(leak(tail, secret), tail).toBeUndefined()
        }
      }
    }
  })
})

describe('shape', () => {
  const hash = (text: string) => createHmac('sha256', options.key).update(text).digest('hex').slice(0, 8)

  test('string values become their length and hash; structure, numbers and names of kinds stay', () => {
    const body = `{ "model": "gpt-4o", "n": 1.5, "ok": true, "x": null,\n "messages": [{"role":"user","content":"h\\u00e9llo 🚀"}], "type": ["a"] }`
    expect(redacted(body, 'shape')).toBe(
      body
        .replace('h\\u00e9llo 🚀', `[REDACTED LENGTH=8 HASH=${hash('héllo 🚀')}]`)
        .replace('"a"', `"[REDACTED LENGTH=1 HASH=${hash('a')}]"`),
    )
  })

  test('model, role and type are hidden when they are not names', () => {
    const kept = JSON.parse(
      redacted(JSON.stringify({ model: 'two words', role: `sk-${randomText(40)}`, type: 'ok' }), 'shape'),
    )
    expect(kept).toEqual({
      model: expect.stringMatching(/^\[REDACTED L/),
      role: expect.stringMatching(/^\[REDACTED L/),
      type: 'ok',
    })
  })

  test('a body that is not JSON becomes one placeholder, and so does the rest of a body that stops being JSON', () => {
    expect(redacted('my secret', 'shape')).toBe(`"[REDACTED LENGTH=9 HASH=${hash('my secret')}]"`)
    expect(redacted('{"a":1,oops', 'shape')).toBe(`{"a":1,"[REDACTED LENGTH=4 HASH=${hash('oops')}]"`)
    expect(redacted('{"a":"cut off', 'shape')).not.toContain('cut off')
  })

  test('ten thousand levels of nesting are kept', () => {
    const body = `${'[{"a":'.repeat(10_000)}"x"${'}]'.repeat(10_000)}`
    expect(redacted(body, 'shape', { bytesMax: 1e6 })).toBe(
      body.replace('x', `[REDACTED LENGTH=1 HASH=${hash('x')}]`),
    )
  })
})
