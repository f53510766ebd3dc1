import {
  Application,
  ArrayType,
  Converter,
  type ParameterReflection,
  ReflectionKind,
  RestType,
  TupleType,
  type TypeDocOptions,
  TypeOperatorType,
} from 'typedoc'
import ts from 'typescript'

// Typedoc, and what it reads wrong: it takes a parameter `readonly [A, ...B[]]` for `readonly [A, B]`.

export async function createReader(options: TypeDocOptions): Promise<Application> {
  const app = await Application.bootstrapWithPlugins(options)
  keepRestElements(app)
  return app
}

function keepRestElements({ converter }: Application): void {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
    for (const reflection of context.project.getReflectionsByKind(ReflectionKind.Parameter)) {
      const parameter = reflection as ParameterReflection // of that kind
      const declaration = context.getSymbolFromReflection(parameter)?.valueDeclaration
      if (declaration !== undefined && ts.isParameter(declaration)) mend(parameter, declaration)
    }
  })
}

function mend({ type }: ParameterReflection, { type: written }: ts.ParameterDeclaration): void {
  if (!(type instanceof TypeOperatorType) || !(type.target instanceof TupleType)) return
  if (written === undefined || !ts.isTypeOperatorNode(written)) return
  const { type: tuple } = written
  if (!ts.isTupleTypeNode(tuple)) return
  const { elements } = type.target
  for (const [at, element] of tuple.elements.entries()) {
    const read = elements[at]
    if (!ts.isRestTypeNode(element) || read === undefined || read instanceof RestType) continue
    elements[at] = new RestType(new ArrayType(read))
  }
}
