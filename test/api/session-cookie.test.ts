import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { siteOf } from '../../src/api/admin/authenticate.ts'
import { cookieHeader, cookieOf, ownOrigin, sessionCookie } from '../../src/api/admin/session-cookie.ts'

function requestWith(headers: Record<string, string>): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), {
    headers: { host: 'gateway.example', ...headers },
  })
}

test('over HTTPS the cookie goes to this host only', () => {
  expect(cookieHeader(sessionCookie, 'secret', { isSecure: true, seconds: 60 })).toBe(
    '__Host-tollgate=secret; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure',
  )
})

test('a cookie without the prefix, which a neighbour may have set, does not count over HTTPS', () => {
  const request = requestWith({ cookie: 'a=b; tollgate=planted; __Host-tollgate=own' })
  expect(cookieOf(request, sessionCookie, true)).toBe('own')
  expect(cookieOf(requestWith({ cookie: 'tollgate=planted' }), sessionCookie, true)).toBeUndefined()
})

test('of two cookies with one name none counts', () => {
  expect(
    cookieOf(requestWith({ cookie: 'tollgate=one; tollgate=two' }), sessionCookie, false),
  ).toBeUndefined()
})

test('PUBLIC_URL says the origin of our pages', () => {
  const origin = ownOrigin(requestWith({}), 'https://llm.example/base')
  expect(origin).toBe('https://llm.example')
  expect(siteOf(requestWith({ origin: 'https://llm.example' }), origin)).toBe('own')
  expect(siteOf(requestWith({ origin: 'http://llm.example' }), origin)).toBe('other')
})

test('an address that somebody typed is not a page of ours', () => {
  expect(siteOf(requestWith({ 'sec-fetch-site': 'none' }), 'https://llm.example')).toBe('unknown')
})

test('a host header that is not a host is an error of the client', () => {
  expect(() => ownOrigin(requestWith({ host: 'gateway.example:99999' }), undefined)).toThrow(
    expect.objectContaining({ reason: 'host_invalid' }),
  )
})
