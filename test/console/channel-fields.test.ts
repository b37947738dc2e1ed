import { expect, test } from 'vitest'
import {
  type ChannelValues,
  channelBody,
  channelFaults,
  newChannel,
  other,
  placeOf,
} from '../../console/src/pages/channels/channel-fields.ts'

const values = (changes: Partial<ChannelValues>): ChannelValues => ({ ...newChannel, ...changes })

test('a vendor needs a key and models, and gives the channel its name', () => {
  const filled = values({ secret: ' sk-1 ', models: ['small'] })
  expect(channelBody(filled)).toEqual({
    name: 'openai',
    vendor: 'openai',
    api_keys: ['sk-1'],
    models: ['small'],
  })
  expect(channelBody({ ...filled, scope: 'any' })).toMatchObject({ models: '*' })
})

test('a server of its own may have an address, which may be private', () => {
  const own = values({ vendor: 'vllm', base_url: ' http://10.0.0.7/v1 ', isPrivate: true })
  expect(placeOf(own)).toEqual({
    vendor: 'vllm',
    base_url: 'http://10.0.0.7/v1',
    api_keys: [''],
    allow_private_address: true,
  })
  expect(placeOf({ ...own, base_url: '' })).not.toHaveProperty('base_url')
})

test('what was typed for another server does not stay with a vendor', () => {
  const typed = values({ base_url: 'http://10.0.0.7/v1', isPrivate: true, format: 'gemini' })
  expect(placeOf({ ...typed, vendor: other })).toEqual({
    protocols: { gemini: 'http://10.0.0.7/v1' },
    api_keys: [''],
    allow_private_address: true,
  })
  expect(placeOf({ ...typed, vendor: 'mistral' })).toEqual({ vendor: 'mistral', api_keys: [''] })
})

test('without models, name or address the form says what is missing', () => {
  expect(channelFaults.models([], values({}))).toContain('Choose one or more')
  expect(channelFaults.models([], values({ scope: 'any' }))).toBeNull()
  expect(channelFaults.base_url('ftp://a', values({ vendor: other }))).toContain('https://')
  expect(channelFaults.base_url('', values({}))).toBeNull()
  expect(channelFaults.name(' ', values({ vendor: other }))).toContain('Give it a name')
})
