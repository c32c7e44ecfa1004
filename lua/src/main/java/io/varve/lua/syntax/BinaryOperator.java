package io.varve.lua.syntax;

import org.jspecify.annotations.Nullable;

/** Operators with two operands, with their priorities to the left and to the right. */
public enum BinaryOperator {
    ADD(6, 6), SUBTRACT(6, 6), MULTIPLY(7, 7), DIVIDE(7, 7), MODULO(7, 7), POWER(10, 9), CONCAT(5, 4), NOT_EQUAL(3,
            3), EQUAL(3, 3), LESS(3, 3), LESS_EQUAL(3, 3), GREATER(3, 3), GREATER_EQUAL(3, 3), AND(2, 2), OR(1, 1);

    /** The priority of operators with one operand. */
    static final int UNARY_PRIORITY = 8;
    private final int left;
    private final int right;

    BinaryOperator(int left, int right) {
        this.left = left;
        this.right = right;
    }

    int left() {
        return left;
    }

    int right() {
        return right;
    }

    static @Nullable BinaryOperator of(int token) {
        return switch (token) {
            case '+' -> ADD;
            case '-' -> SUBTRACT;
            case '*' -> MULTIPLY;
            case '/' -> DIVIDE;
            case '%' -> MODULO;
            case '^' -> POWER;
            case Token.CONCAT -> CONCAT;
            case Token.NOT_EQUAL -> NOT_EQUAL;
            case Token.EQUAL -> EQUAL;
            case '<' -> LESS;
            case Token.LESS_EQUAL -> LESS_EQUAL;
            case '>' -> GREATER;
            case Token.GREATER_EQUAL -> GREATER_EQUAL;
            case Token.AND -> AND;
            case Token.OR -> OR;
            default -> null;
        };
    }
}
