package io.varve.lua.syntax;

import java.util.List;

import io.varve.lua.LuaString;
import org.jspecify.annotations.Nullable;

/** An expression. Immutable. The line is the one that C Lua names in messages about it. */
public sealed interface Expression {
    /** The line for messages. */
    int line();

    /** nil, true, false, a number or a string; the value is null, a Boolean, a Double or a {@link LuaString}. */
    record Constant(@Nullable Object value, int line) implements Expression {}

    /** {@code ...}. */
    record VarArgs(int line) implements Expression {}

    /** {@code function (...) ... end}. */
    record Function(FunctionBody body, int line) implements Expression {}

    /** A variable of this function. */
    record Local(LocalVariable variable, int line) implements Expression {}

    /**
     * A variable of an outer function.
     *
     * @param index its place among {@link FunctionBody#upvalues}
     */
    record Upvalue(LocalVariable variable, int index, int line) implements Expression {}

    /** A global variable. */
    record Global(LuaString name, int line) implements Expression {}

    /** {@code object[key]} or {@code object.key}. */
    record Index(Expression object, Expression key, int line) implements Expression {}

    /** {@code function(arguments)}. */
    record Call(Expression function, List<Expression> arguments, int line) implements Expression {}

    /** {@code object:name(arguments)}. */
    record MethodCall(Expression object, LuaString name, List<Expression> arguments, int line) implements Expression {}

    /** An operator with one operand. */
    record Unary(UnaryOperator operator, Expression operand, int line) implements Expression {}

    /** An operator with two operands, including {@code and} and {@code or}. */
    record Binary(BinaryOperator operator, Expression left, Expression right, int line) implements Expression {}

    /** {@code (expression)}, which has exactly one value. */
    record Parenthesized(Expression inner, int line) implements Expression {}

    /** {@code { ... }}. */
    record TableConstructor(List<Field> fields, int line) implements Expression {}

    /**
     * A field of a table constructor.
     *
     * @param key null for an item of the list
     */
    record Field(@Nullable Expression key, Expression value, int line) {}
}
