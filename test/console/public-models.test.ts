import { describe, expect, test } from 'vitest'
import { snippets } from '../../console/docs/snippets.ts'
import { filled, filledHtml } from '../../console/src/public/fill.ts'
import { comparePrices } from '../../console/src/public/models/prices.ts'

describe('prices', () => {
  test('are compared exactly, and those that no one knows come last', () => {
    const sorted = ['0.30', null, '0.150000001', '12.00', '0.15', '2.00'].sort(comparePrices)
    expect(sorted).toEqual(['0.15', '0.150000001', '0.30', '2.00', '12.00', null])
    expect(comparePrices('2.00', '2.000')).toBe(0)
  })
})

describe('snippets', () => {
  const all = Object.values(snippets).flat()

  test('name the gateway, the model and the key of the environment', () => {
    for (const { text, id } of all) {
      expect(text, id).toContain('__GATEWAY__')
      expect(text, id).toContain('__MODEL__')
      expect(text, id).toContain('TOLLGATE_KEY')
    }
  })

  test('are filled for one gateway and one model', () => {
    const values = { gateway: 'https://llm.example.com', model: 'meta/llama-4' }
    for (const { text, id } of all) expect(filled(text, values), id).not.toMatch(/__[A-Z]+__/)
    expect(filled('__GATEWAY__/v1 "__MODEL__"', values)).toBe('https://llm.example.com/v1 "meta/llama-4"')
  })

  test('an id cannot leave its quotes, nor become HTML', () => {
    const values = { gateway: 'https://a', model: `x'"$(rm)\`<img src=x>` }
    expect(filled("'__MODEL__'", values)).toBe("'x___(rm)_<img src=x>'")
    expect(filledHtml('__MODEL__', values)).not.toContain('<')
  })
})
