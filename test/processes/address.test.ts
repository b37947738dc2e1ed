import { expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { addressOf } from '../../src/process/serve.ts'

/** Whatever the gateway listens on, its greeting names an address that a browser and curl can open. */

const tls = { TLS_CERT: '/cert.pem', TLS_KEY: '/key.pem' }
const anywhere = { PLAIN_HTTP: 'allow' }

test.each([
  [{}, 'http://127.0.0.1:8787'],
  [{ HOST: '127.0.0.1' }, 'http://127.0.0.1:8787'],
  [{ HOST: 'localhost' }, 'http://localhost:8787'],
  [{ HOST: '::1' }, 'http://[::1]:8787'],
  [{ HOST: '0.0.0.0', ...anywhere }, 'http://localhost:8787'],
  [{ HOST: '::', ...anywhere }, 'http://localhost:8787'],
  [{ HOST: '192.0.2.7', ...anywhere }, 'http://192.0.2.7:8787'],
  [{ HOST: '2001:db8::7', ...anywhere }, 'http://[2001:db8::7]:8787'],
  [{ HOST: '0.0.0.0', ...tls }, 'https://localhost:8787'],
  [{ HOST: '::', ...tls }, 'https://localhost:8787'],
  [{ HOST: '0.0.0.0', TRUSTED_PROXIES: '10.0.0.0/8' }, 'http://localhost:8787'],
  [{ HOST: '0.0.0.0', ...anywhere, PUBLIC_URL: 'https://api.example.com' }, 'https://api.example.com'],
  [{ HOST: '0.0.0.0', ...tls, PUBLIC_URL: 'https://example.com/' }, 'https://example.com'],
])('%j: %s', (environment, address) => {
  expect(addressOf(readConfig(environment), 8787)).toBe(address)
})
