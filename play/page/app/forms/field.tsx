import { type ReactNode, useId } from 'react';
import { Chooser } from '../blocks/choices.tsx';
import { isBoxes, type Option } from '../blocks/options.ts';
import { type Json, numberOf, objectOf, stringOf } from '../json.ts';
import { Search } from './search.tsx';
import { isTyped } from './values.ts';

interface Props {
  /** An `input` block. */
  readonly block: Json;
  readonly filled: readonly string[];
  readonly error: string | undefined;
  readonly onFill: (filled: readonly string[]) => void;
  /** What the field may choose from as far as the page knows, and what the app says for words. */
  readonly known: readonly Option[];
  readonly search: (typed: string) => Promise<readonly Option[] | undefined>;
}

/** One labelled field; what is wrong with it stands under it, and is read with it. */
export function Field({ block, filled, error, onFill, known, search }: Props): ReactNode {
  const id = useId();
  const element = objectOf(block.element);
  const label = stringOf(objectOf(block.label).text);
  const hint = stringOf(objectOf(block.hint).text);
  const describedBy = [error !== undefined && `${id}-error`, hint !== '' && `${id}-hint`].filter(Boolean).join(' ');
  const described = { id, labelledBy: `${id}-label`, describedBy, invalid: error !== undefined };
  const words = (
    <>
      {label}
      {block.optional === true && <small> (optional)</small>}
    </>
  );
  return (
    <div className={error === undefined ? 'field' : 'field field-wrong'}>
      {isBoxes(element) ? (
        <span id={`${id}-label`} className="field-label">
          {words}
        </span>
      ) : (
        <label htmlFor={id} className="field-label">
          {words}
        </label>
      )}
      {element.type === 'external_select' ? (
        <Search
          {...described}
          placeholder={stringOf(objectOf(element.placeholder).text)}
          chosen={known.find(({ value }) => value === filled[0])}
          search={search}
          onPick={(option) => onFill(option === undefined ? [] : [option.value])}
        />
      ) : isTyped(element) ? (
        <TextInput element={element} value={filled[0] ?? ''} described={described} onFill={(text) => onFill([text])} />
      ) : (
        <Chooser element={element} chosen={filled} onChoose={onFill} {...described} />
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
      {hint !== '' && (
        <p id={`${id}-hint`} className="small">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  readonly element: Json;
  readonly value: string;
  readonly described: { readonly id: string; readonly describedBy: string; readonly invalid: boolean };
  readonly onFill: (text: string) => void;
}

const TYPES: Readonly<Record<string, string>> = {
  number_input: 'number',
  email_text_input: 'email',
  url_text_input: 'url',
  datepicker: 'date',
  timepicker: 'time',
};

function TextInput({ element, value, described, onFill }: TextProps): ReactNode {
  const common = {
    id: described.id,
    value,
    'aria-describedby': described.describedBy || undefined,
    'aria-invalid': described.invalid || undefined,
    placeholder: stringOf(objectOf(element.placeholder).text),
    maxLength: numberOf(element.max_length),
    'data-first-focus': element.focus_on_load === true ? '' : undefined,
  };
  if (element.multiline === true)
    return <textarea {...common} rows={5} className="input" onChange={({ target }) => onFill(target.value)} />;
  const type = TYPES[stringOf(element.type)] ?? 'text';
  return <input {...common} type={type} className="input" onChange={({ target }) => onFill(target.value)} />;
}
