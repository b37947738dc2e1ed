import { Button, Group, Modal, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, api, ask } from '../../api/client.ts'
import { newId } from '../../api/new-id.ts'
import type { Tenant } from '../../api/who.ts'
import { exactMoney } from '../../format/money.ts'
import { formErrors } from '../../parts/form-errors.ts'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import { sumOf } from '../who/words.ts'

/**
 * Books a top-up or an adjustment. The page makes the entry's id when the dialog opens and keeps it until the gateway has
 * answered: a double click, or a second try after a lost answer, books once.
 */
export function BookEntry({
  of,
  opened,
  onClose,
  balance,
}: {
  of: Tenant
  opened: boolean
  onClose(): void
  balance: string | undefined
}) {
  const queryClient = useQueryClient()
  const [id, setId] = useState(newId)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const form = useForm({
    initialValues: { kind: 'top_up', amount_usd: '', note: '' },
    validate: {
      amount_usd: (value, { kind }) => {
        if (!/^-?\d+(\.\d{1,9})?$/.test(value.trim()))
          return 'Write a decimal number of USD with a dot and at most 9 decimals, such as 50.25.'
        return kind === 'top_up' && value.trim().startsWith('-')
          ? 'A top-up brings money. Choose “Adjustment” to take some.'
          : null
      },
    },
  })
  const { kind, amount_usd } = form.values
  const after = balance === undefined ? undefined : sumOf(balance, amount_usd)
  const close = () => {
    setError(undefined)
    form.reset()
    onClose()
  }
  const book = form.onSubmit(async (values) => {
    if (isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      const booked = await ask(
        api.POST('/admin/v1/tenants/{id}/entries', {
          params: { path: { id: of.id } },
          body: {
            id,
            kind: values.kind === 'adjustment' ? 'adjustment' : 'top_up',
            amount_usd: values.amount_usd.trim(),
            ...(values.note.trim() === '' ? {} : { note: values.note.trim() }),
          },
        }),
      )
      setId(newId())
      void queryClient.invalidateQueries({ queryKey: ['tenants'] })
      done(`${exactMoney(booked.entry.amount_nano_usd)} is booked for ${of.name}`)
      close()
    } catch (cause) {
      // A 422 says that this id was booked with another amount: the next try is a new entry.
      if (cause instanceof ApiError && cause.status === 422) setId(newId())
      setError(cause)
      form.setErrors(formErrors(cause))
    } finally {
      setBusy(false)
    }
  })
  return (
    <Modal opened={opened} onClose={close} title={`Book an entry for ${of.name}`} closeOnClickOutside={false}>
      <form onSubmit={book}>
        <Stack gap={12}>
          <SegmentedControl
            aria-label="Kind"
            data={[
              { value: 'top_up', label: 'Top-up' },
              { value: 'adjustment', label: 'Adjustment' },
            ]}
            {...form.getInputProps('kind')}
          />
          <TextInput
            label="Amount, USD"
            description={
              kind === 'top_up' ? 'It brings money.' : 'It brings money or, with a minus, takes it.'
            }
            placeholder={kind === 'top_up' ? '50.25' : '-12.50'}
            inputMode="decimal"
            autoComplete="off"
            required
            data-autofocus
            {...form.getInputProps('amount_usd')}
          />
          <TextInput
            label="Note"
            placeholder="Invoice 2026-1187"
            maxLength={1_000}
            {...form.getInputProps('note')}
          />
          <div className="tg-quiet">
            {after === undefined || balance === undefined
              ? 'Entries are never changed and never deleted.'
              : `The balance goes from ${exactMoney(balance)} to ${exactMoney(after)}. Entries are never changed and never deleted.`}
          </div>
          {error === undefined ||
          Object.keys(formErrors(error)).some((path) => path in form.values) ? null : (
            <Problem error={error} doing="Book entry" />
          )}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={isBusy}>
              {kind === 'top_up' ? 'Book top-up' : 'Book adjustment'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
