package io.varve.lua.lib;

import java.util.function.DoubleUnaryOperator;

import io.varve.lua.Arguments;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.lib.base.Library;

/**
 * The library {@code math}. Stateless but for the random generator of each state.
 * <p>
 * A NaN argument is returned as it is, because its sign shows in its text. For an argument outside of a function's
 * domain the sign is that of the C library on x86. The last of 17 digits may differ from the C library's: in random
 * calls it did so in up to one of ten for inverse and hyperbolic functions, and rarely for powers.
 */
final class MathLibrary {
    private static final double RADIANS_PER_DEGREE = Math.PI / 180.0;

    private MathLibrary() {}

    static void install(LuaState lua, LuaTable globals) {
        LuaTable math = lua.newTable();
        function(math, "abs", Math::abs, LuaNumber.NAN);
        function(math, "acos", Math::acos, LuaNumber.NAN);
        function(math, "asin", Math::asin, LuaNumber.NAN);
        function(math, "atan", Math::atan, LuaNumber.NAN);
        function(math, "ceil", Math::ceil, LuaNumber.NAN);
        function(math, "cos", Math::cos, LuaNumber.NEGATIVE_NAN);
        function(math, "cosh", Math::cosh, LuaNumber.NAN);
        function(math, "deg", x -> x / RADIANS_PER_DEGREE, LuaNumber.NAN);
        function(math, "exp", Math::exp, LuaNumber.NAN);
        function(math, "floor", Math::floor, LuaNumber.NAN);
        function(math, "log", Math::log, LuaNumber.NEGATIVE_NAN);
        function(math, "log10", Math::log10, LuaNumber.NAN);
        function(math, "rad", x -> x * RADIANS_PER_DEGREE, LuaNumber.NAN);
        function(math, "sin", Math::sin, LuaNumber.NEGATIVE_NAN);
        function(math, "sinh", Math::sinh, LuaNumber.NAN);
        function(math, "sqrt", Math::sqrt, LuaNumber.NEGATIVE_NAN);
        function(math, "tan", Math::tan, LuaNumber.NEGATIVE_NAN);
        function(math, "tanh", Math::tanh, LuaNumber.NAN);
        Library.register(math, "atan2", MathLibrary::atan2);
        Library.register(math, "fmod", MathLibrary::fmod);
        Library.register(math, "frexp", MathLibrary::frexp);
        Library.register(math, "ldexp", MathLibrary::ldexp);
        Library.register(math, "max", MathLibrary::max);
        Library.register(math, "min", MathLibrary::min);
        Library.register(math, "modf", MathLibrary::modf);
        Library.register(math, "pow", MathLibrary::pow);
        RandomGenerator random = new RandomGenerator();
        Library.register(math, "random", (state, arguments) -> random(arguments, random));
        Library.register(math, "randomseed", (state, arguments) -> {
            random.seed(arguments.checkInt(1));
            return state.results();
        });
        math.put(LuaString.known("mod"), math.get(LuaString.known("fmod")));
        math.put(LuaString.known("huge"), LuaNumber.box(Double.POSITIVE_INFINITY));
        math.put(LuaString.known("pi"), LuaNumber.box(Math.PI));
        Library.publish(globals, "math", math);
    }

    private static void function(LuaTable math, String name, DoubleUnaryOperator body, Double invalid) {
        boolean sign = name.equals("abs");
        Library.register(math, name, (lua, arguments) -> {
            double argument = arguments.checkNumber(1);
            if (Double.isNaN(argument)) {
                return sign ? invalid : (Object) argument;
            }
            double result = body.applyAsDouble(argument);
            return Double.isNaN(result) ? invalid : LuaNumber.box(result);
        });
    }

    private static Object pow(LuaState lua, Arguments arguments) {
        double base = arguments.checkNumber(1);
        return LuaNumber.box(LuaNumber.power(base, arguments.checkNumber(2)));
    }

    private static Object atan2(LuaState lua, Arguments arguments) {
        double y = arguments.checkNumber(1);
        double x = arguments.checkNumber(2);
        return Double.isNaN(y) ? y : Double.isNaN(x) ? x : LuaNumber.box(Math.atan2(y, x));
    }

    private static Object fmod(LuaState lua, Arguments arguments) {
        double x = arguments.checkNumber(1);
        double y = arguments.checkNumber(2);
        if (Double.isNaN(x) || Double.isNaN(y)) {
            return Double.isNaN(x) ? x : y;
        }
        double result = x % y;
        return Double.isNaN(result) ? LuaNumber.NEGATIVE_NAN : LuaNumber.box(result);
    }

    private static Object modf(LuaState lua, Arguments arguments) {
        double number = arguments.checkNumber(1);
        if (Double.isNaN(number)) {
            return lua.results(number, number);
        }
        double whole = number < 0 ? Math.ceil(number) : Math.floor(number);
        double fraction = Double.isInfinite(number) ? 0 : number - whole;
        return lua.results(LuaNumber.box(whole), LuaNumber.box(Math.copySign(fraction, number)));
    }

    private static Object frexp(LuaState lua, Arguments arguments) {
        double number = arguments.checkNumber(1);
        if (number == 0 || Double.isNaN(number) || Double.isInfinite(number)) {
            return lua.results(number, LuaNumber.box(0));
        }
        // A subnormal number has no exponent of its own.
        boolean subnormal = Math.abs(number) < Double.MIN_NORMAL;
        double normal = subnormal ? number * 0x1p54 : number;
        int exponent = Math.getExponent(normal) + 1;
        double mantissa = Math.scalb(normal, -exponent);
        return lua.results(LuaNumber.box(mantissa), LuaNumber.box(subnormal ? exponent - 54 : exponent));
    }

    private static Object ldexp(LuaState lua, Arguments arguments) {
        double number = arguments.checkNumber(1);
        int exponent = arguments.checkInt(2);
        return Double.isNaN(number) ? (Object) number : LuaNumber.box(Math.scalb(number, exponent));
    }

    private static Object min(LuaState lua, Arguments arguments) {
        double least = arguments.checkNumber(1);
        for (int i = 2; i <= arguments.count(); i++) {
            double number = arguments.checkNumber(i);
            if (number < least) {
                least = number;
            }
        }
        return LuaNumber.box(least);
    }

    private static Object max(LuaState lua, Arguments arguments) {
        double greatest = arguments.checkNumber(1);
        for (int i = 2; i <= arguments.count(); i++) {
            double number = arguments.checkNumber(i);
            if (number > greatest) {
                greatest = number;
            }
        }
        return LuaNumber.box(greatest);
    }

    private static Object random(Arguments arguments, RandomGenerator random) {
        double share = random.nextShare();
        return switch (arguments.count()) {
            case 0 -> share;
            case 1 -> {
                int limit = arguments.checkInt(1);
                if (limit < 1) {
                    throw arguments.argumentError(1, "interval is empty");
                }
                yield LuaNumber.box(Math.floor(share * limit) + 1);
            }
            case 2 -> {
                int low = arguments.checkInt(1);
                int high = arguments.checkInt(2);
                if (low > high) {
                    throw arguments.argumentError(2, "interval is empty");
                }
                // As in Redis the size of the interval is an int, which may overflow.
                yield LuaNumber.box(Math.floor(share * (high - low + 1)) + low);
            }
            default -> throw arguments.error("wrong number of arguments");
        };
    }
}
