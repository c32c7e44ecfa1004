package io.varve.lua.lib.string;

import java.util.Arrays;

import io.varve.lua.Arguments;
import io.varve.lua.LuaFunction;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.lua.LuaTable;
import io.varve.lua.MemoryMeasure;
import io.varve.lua.lib.base.Library;
import io.varve.lua.lib.base.LuaBuffer;

/** The functions of {@code string} that take a pattern. Stateless. */
final class PatternFunctions {
    private PatternFunctions() {}

    static Object find(LuaState lua, Arguments arguments) {
        return search(lua, arguments, true);
    }

    static Object match(LuaState lua, Arguments arguments) {
        return search(lua, arguments, false);
    }

    private static Object search(LuaState lua, Arguments arguments, boolean find) {
        LuaString source = arguments.checkString(1);
        LuaString pattern = arguments.checkString(2);
        int length = source.length();
        long start = StringLibrary.position(arguments.optLong(3, 1), length) - 1;
        int from = (int) Math.clamp(start, 0L, length);
        if (find && (LuaState.isTrue(arguments.get(4)) || LuaPattern.isPlain(pattern.array()))) {
            int found = indexOf(lua, source.array(), from, pattern.array());
            return found < 0 ? null : lua.results(LuaNumber.box(found + 1), LuaNumber.box(found + pattern.length()));
        }
        int anchor = isAnchored(pattern) ? 1 : 0;
        LuaPattern matcher = new LuaPattern(lua, arguments, source, pattern, anchor);
        do {
            int end = matcher.match(from);
            if (end >= 0) {
                return find ? found(lua, matcher, from, end) : captures(lua, matcher, from, end);
            }
            from++;
        } while (from <= length && anchor == 0);
        return null;
    }

    private static boolean isAnchored(LuaString pattern) {
        return pattern.length() > 0 && pattern.byteAt(0) == '^';
    }

    private static Object found(LuaState lua, LuaPattern matcher, int from, int end) {
        int count = matcher.captures();
        if (count == 0) {
            return lua.results(LuaNumber.box(from + 1), LuaNumber.box(end));
        }
        Object[] values = new Object[count + 2];
        values[0] = LuaNumber.box(from + 1);
        values[1] = LuaNumber.box(end);
        copyCaptures(lua, matcher, from, end, values, 2);
        return lua.results(values, 0, values.length);
    }

    /** The results of a match: its captures, or the whole match if there are none. */
    private static Object captures(LuaState lua, LuaPattern matcher, int from, int end) {
        if (matcher.captures() <= 1) {
            return matcher.capture(0, from, end);
        }
        Object[] values = captureArray(lua, matcher, from, end);
        return lua.results(values, 0, values.length);
    }

    private static Object[] captureArray(LuaState lua, LuaPattern matcher, int from, int end) {
        Object[] values = new Object[Math.max(1, matcher.captures())];
        copyCaptures(lua, matcher, from, end, values, 0);
        return values;
    }

    private static void copyCaptures(LuaState lua, LuaPattern matcher, int from, int end, Object[] values, int at) {
        int roots = lua.roots();
        try {
            for (int i = at; i < values.length; i++) {
                values[i] = matcher.capture(i - at, from, end);
                lua.root(values[i]);
            }
        } finally {
            lua.unroot(roots);
        }
    }

    private static int indexOf(LuaState lua, byte[] source, int from, byte[] wanted) {
        if (wanted.length == 0) {
            return from;
        }
        int last = source.length - wanted.length;
        int counted = from;
        for (int i = from; i <= last; i++) {
            if (source[i] != wanted[0]) {
                continue;
            }
            lua.tick(1 + i - counted >> 5);
            counted = i;
            int differs = Arrays.mismatch(source, i, i + wanted.length, wanted, 0, wanted.length);
            if (differs < 0) {
                return i;
            }
            Library.tickBytes(lua, differs);
        }
        Library.tickBytes(lua, Math.max(0, last - counted));
        return -1;
    }

    static Object gmatch(LuaState lua, Arguments arguments) {
        LuaString source = arguments.checkString(1);
        LuaString pattern = arguments.checkString(2);
        lua.charge(Matches.BYTES);
        return new Matches(source, pattern);
    }

    /** The iterator of gmatch. Confined to the state's thread. */
    private static final class Matches extends LuaFunction {
        static final int BYTES = 64;

        private final LuaString source;
        private final LuaString pattern;
        private int from;

        Matches(LuaString source, LuaString pattern) {
            this.source = source;
            this.pattern = pattern;
        }

        @Override
        public Object call(LuaState lua, Arguments arguments) {
            LuaPattern matcher = new LuaPattern(lua, arguments, source, pattern, 0);
            for (int start = from; start <= source.length(); start++) {
                int end = matcher.match(start);
                if (end >= 0) {
                    from = end == start ? end + 1 : end;
                    return captures(lua, matcher, start, end);
                }
            }
            return lua.results();
        }

        @Override
        protected void addReferences(MemoryMeasure measure) {
            measure.add(source);
            measure.add(pattern);
        }
    }

    static Object gsub(LuaState lua, Arguments arguments) {
        LuaString source = arguments.checkString(1);
        LuaString pattern = arguments.checkString(2);
        Object replacement = arguments.get(3);
        int most = arguments.optInt(4, source.length() + 1);
        if (replacement instanceof Double) {
            replacement = LuaNumber.toLuaString(replacement);
        } else if (!(replacement instanceof LuaString || replacement instanceof LuaTable
                || replacement instanceof LuaFunction)) {
            throw arguments.argumentError(3, "string/function/table expected");
        }
        int anchor = isAnchored(pattern) ? 1 : 0;
        LuaPattern matcher = new LuaPattern(lua, arguments, source, pattern, anchor);
        byte[] bytes = source.array();
        try (LuaBuffer out = new LuaBuffer(lua)) {
            int from = 0;
            int copied = 0;
            int count = 0;
            while (count < most) {
                int end = matcher.match(from);
                if (end >= 0) {
                    count++;
                    out.append(bytes, copied, from - copied);
                    replace(lua, arguments, out, matcher, replacement, from, end);
                    copied = end;
                }
                if (end > from) {
                    from = end;
                } else if (from < bytes.length) {
                    from++;
                } else {
                    break;
                }
                if (anchor != 0) {
                    break;
                }
            }
            LuaString result = source;
            if (count > 0) {
                out.append(bytes, copied, bytes.length - copied);
                result = out.toLuaString();
            }
            return lua.results(result, LuaNumber.box(count));
        }
    }

    private static void replace(LuaState lua, Arguments arguments, LuaBuffer out, LuaPattern matcher,
            Object replacement, int from, int end) {
        Object value;
        if (replacement instanceof LuaString template) {
            expand(arguments, out, matcher, template.array(), from, end);
            return;
        } else if (replacement instanceof LuaTable) {
            value = lua.index(replacement, matcher.capture(0, from, end));
        } else {
            value = LuaState.first(lua.call(replacement, captureArray(lua, matcher, from, end)));
        }
        if (!LuaState.isTrue(value)) {
            out.append(arguments.checkString(1).array(), from, end - from);
        } else {
            out.append(replacementText(arguments, value).array());
        }
    }

    private static LuaString replacementText(Arguments arguments, Object value) {
        LuaString text = LuaNumber.toLuaString(value);
        if (text == null) {
            throw arguments.error("invalid replacement value (a " + LuaState.typeName(value) + ")");
        }
        return text;
    }

    /** Appends a replacement text, in which {@code %1} stands for the first capture. */
    // A percent sign and what follows it are one step.
    @SuppressWarnings("IncrementInForLoopAndHeader")
    private static void expand(Arguments arguments, LuaBuffer out, LuaPattern matcher, byte[] template, int from,
            int end) {
        for (int i = 0; i < template.length; i++) {
            int c = template[i];
            if (c != '%') {
                out.append(c);
                continue;
            }
            i++;
            c = i < template.length ? template[i] : 0;
            if (c < '0' || c > '9') {
                out.append(c);
            } else if (c == '0') {
                out.append(arguments.checkString(1).array(), from, end - from);
            } else {
                Object value = matcher.capture(c - '1', from, end);
                out.append(replacementText(arguments, value).array());
            }
        }
    }
}
