import { Button, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Problem } from '../../parts/problem.tsx'
import { factsQuery } from './facts.ts'
import classes from './set-up.module.css'

/** Makes one thing by its name, and what `children` add. The steps are read again behind it. */
export function SmallForm({
  what,
  suggestion,
  make,
  children,
}: {
  /** Such as "tenant". */
  what: string
  suggestion: string
  make(name: string): Promise<unknown>
  children?: ReactNode
}) {
  const client = useQueryClient()
  const [name, setName] = useState(suggestion)
  const making = useMutation({
    mutationFn: () => make(name.trim()),
    onSuccess: () => client.invalidateQueries({ queryKey: factsQuery.queryKey }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    making.mutate()
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      {children}
      <TextInput
        label={`Name of the ${what}`}
        required
        maxLength={128}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Button type="submit" size="sm" loading={making.isPending}>
        Make the {what}
      </Button>
      {making.error === null ? null : (
        <div className={classes.problem}>
          <Problem error={making.error} doing={`The ${what} was not made`} />
        </div>
      )}
    </form>
  )
}
