package io.varve.lua.syntax;

import java.util.List;

import org.jspecify.annotations.Nullable;

/** A statement. Immutable. */
public sealed interface Statement {
    /** The line for messages. */
    int line();

    /** {@code local a, b = x, y}. */
    record LocalDeclaration(List<LocalVariable> variables, List<Expression> values, int line) implements Statement {}

    /** {@code local function f() ... end}: the body sees the variable. */
    record LocalFunction(LocalVariable variable, Expression.Function function, int line) implements Statement {}

    /** {@code a, b.c = x, y}. The targets are Local, Upvalue, Global or Index. */
    record Assignment(List<Expression> targets, List<Expression> values, int line) implements Statement {}

    /** A call whose values are dropped: Call or MethodCall. */
    record CallStatement(Expression call, int line) implements Statement {}

    /** {@code do ... end}. */
    record Do(Block body, int line) implements Statement {}

    /** {@code while condition do ... end}. */
    record While(Expression condition, Block body, int line) implements Statement {}

    /** {@code repeat ... until condition}. The condition sees the variables of the body. */
    record Repeat(Block body, Expression condition, int line) implements Statement {}

    /** {@code if ... then ... elseif ... else ... end}. */
    record If(List<Clause> clauses, @Nullable Block otherwise, int line) implements Statement {}

    /** A condition of an if statement with what it guards. */
    record Clause(Expression condition, Block body) {}

    /** {@code for i = first, limit, step do ... end}. Three registers before the variable's are the loop's. */
    record NumericFor(LocalVariable variable, Expression first, Expression limit, @Nullable Expression step,
            Block body, int line) implements Statement {}

    /** {@code for a, b in values do ... end}. Three registers from base on are the loop's. */
    record GenericFor(int base, List<LocalVariable> variables, List<Expression> values, Block body, int line)
            implements
                Statement {}

    /** {@code return values}. */
    record Return(List<Expression> values, int line) implements Statement {}

    /** {@code break}. */
    record Break(int line) implements Statement {}
}
