import { Button, Input, PasswordInput, Select, TextInput } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import type { Field, Pair } from './fields.ts'
import classes from './pairs-field.module.css'

/** Names with values, a row for each. A value that is kept secret can be replaced, and its name stays. */
export function PairsField({
  field: { label, about, options, isSecret = false, one = 'row', placeholder = '', isFixed = false },
  input,
  className,
}: {
  field: Field
  input: GetInputPropsReturnType
  className?: string | undefined
}) {
  const pairs = input.value as Pair[]
  const set = (index: number, change: Partial<Pair>) =>
    input.onChange(pairs.map((pair, at) => (at === index ? { ...pair, ...change } : pair)))
  return (
    <Input.Wrapper
      label={label}
      labelElement="div"
      error={input.error}
      {...(about === undefined ? {} : { description: about })}
      {...(className === undefined ? {} : { className })}
    >
      <fieldset
        className={classes.pairs}
        aria-label={label}
        disabled={isFixed}
        data-wrong={input.error ? true : undefined}
      >
        {pairs.map(({ name, value, isKept = false }, index) => {
          const place = name === '' ? `${one} ${index + 1}` : name
          const nameProps = {
            'aria-label': `Name of ${one} ${index + 1}`,
            placeholder: 'Name',
            value: name,
          }
          const valueProps = {
            'aria-label': `Value of ${place}`,
            value,
            error: String(input.error ?? '').startsWith(`${name}: `),
            autoComplete: 'off',
          }
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has nothing but its place while it is typed
            <div key={index} className={classes.pair}>
              {options === undefined ? (
                <TextInput
                  {...nameProps}
                  readOnly={isKept}
                  autoComplete="off"
                  onChange={(event) => set(index, { name: event.currentTarget.value })}
                />
              ) : (
                <Select
                  {...nameProps}
                  data={options.map((option) => ({ ...option }))}
                  value={name === '' ? null : name}
                  allowDeselect={false}
                  onChange={(next) => set(index, { name: next ?? '' })}
                />
              )}
              {isSecret ? (
                <PasswordInput
                  {...valueProps}
                  placeholder={isKept ? 'Stored. Type to replace it' : 'Value'}
                  onChange={(event) => set(index, { value: event.currentTarget.value })}
                />
              ) : (
                <TextInput
                  {...valueProps}
                  placeholder={placeholder}
                  onChange={(event) => set(index, { value: event.currentTarget.value })}
                />
              )}
              <Button
                variant="subtle"
                color="red"
                aria-label={`Remove ${place}`}
                onClick={() => input.onChange(pairs.filter((_, at) => at !== index))}
              >
                Remove
              </Button>
            </div>
          )
        })}
        <Button
          className={classes.add ?? ''}
          variant="default"
          size="xs"
          onClick={() => input.onChange([...pairs, { name: '', value: '' }])}
        >
          Add a {one}
        </Button>
      </fieldset>
    </Input.Wrapper>
  )
}
