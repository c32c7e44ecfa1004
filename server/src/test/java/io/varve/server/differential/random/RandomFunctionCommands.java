package io.varve.server.differential.random;

import io.varve.server.rdb.Payloads;

import static io.varve.server.differential.random.ScriptStep.Comparison.ANY_ORDER;
import static io.varve.server.differential.random.ScriptStep.Comparison.SHAPE;

/**
 * Draws FUNCTION and FCALL: libraries of one function, so that the order of functions does not matter, and libraries
 * that are wrong. Confined to the test's thread.
 */
final class RandomFunctionCommands extends CommandGenerator {
    private static final String[] LIBRARIES = {"alpha", "beta", "Alpha"};
    private static final String[] FUNCTIONS = {"f", "g", "F", "long_name_1"};
    private static final String[] BODIES = {"return 1", "return {keys, args}", "return redis.call('get', keys[1])",
            "return redis.call('set', keys[1], args[1])", "return redis.call('del', keys[1])", "error('boom')",
            "return redis.error_reply('My error')", "return redis.status_reply('Fine')", "x = 1", "return KEYS",
            "return #args", "return redis.pcall('nosuch').err", "return redis.call('nosuch')",
            "redis.setresp(3) return {true, false}", "return redis.register_function", "return redis.breakpoint",
            "return redis.call('lpush', keys[1], 'a')", "return", "return nil + 1", "return {1, 2, nil, 4}",
            "return redis.call('function', 'flush')", "return redis.call('fcall', 'f', 0)",
            "return tostring(_G ~= nil)",
            "redis.call('select', 1) return redis.call('exists', 'a', 'key:1')", "count = (count or 0) + 1"};
    private static final String[] FLAGS = {"", "", "'no-writes'", "'allow-oom'", "'no-writes', 'allow-stale'",
            "'NO-CLUSTER', 'allow-cross-slot-keys'", "'nosuch'", "1", "{}"};
    private static final String[] WRONG = {"", "x", "#!", "#!lua", "#!lua\n", "#!lua name=alpha", "#!lua name=alpha\n",
            "#!lua name=\nx", "#!lua name=a-b\nx", "#!lua name=a name=b\nx", "#!lua nam=a\nx", "#!lua name=\"alpha\nx",
            "#!lua name=\"gamma\"\nredis.register_function('h', function() return 1 end)", "#!python name=a\nx",
            "#! name=a\nx", "#!lua name=alpha\nreturn redis.call('get', 'a')", "#!lua name=alpha\nlocal a =",
            "#!lua name=alpha\nx = 1", "#!lua name=alpha\nredis.x = 1", "#!lua name=alpha\nlocal a = string.format",
            "#!lua name=alpha\nlocal a = nil; a()", "#!lua name=alpha\nredis.log(redis.LOG_DEBUG)",
            "#!lua name=alpha\nredis.register_function()", "#!lua name=alpha\nredis.register_function('f')",
            "#!lua name=alpha\nredis.register_function(1, 2, 3)", "#!lua name=alpha\nredis.register_function('f', 1)",
            "#!lua name=alpha\nredis.register_function({}, function() end)",
            "#!lua name=alpha\nredis.register_function('a-b', function() end)",
            "#!lua name=alpha\nlocal f, r = function() end, redis.register_function r('f', f) r('f', f)",
            "#!lua name=alpha\nredis.register_function{function_name='f'}",
            "#!lua name=alpha\nredis.register_function{callback=function() end}",
            "#!lua name=alpha\nredis.register_function{function_name='f', callback=1}",
            "#!lua name=alpha\nredis.register_function{function_name=true, callback=function() end}",
            "#!lua name=alpha\nredis.register_function{function_name='f', callback=function() end, foo=1}",
            "#!lua name=alpha\nredis.register_function{function_name='f', callback=function() end, description={}}",
            "#!lua name=alpha\nredis.register_function{function_name='f', callback=function() end, flags='no-writes'}"};

    RandomFunctionCommands(Source source) {
        super(source);
    }

    @Override
    void any() {
        switch (random.nextInt(16)) {
            case 0, 1, 2 -> addAsIs("FUNCTION", "LOAD", one("REPLACE", "replace"), library());
            case 3 -> addAsIs("FUNCTION", "LOAD", library());
            case 4 -> add("FUNCTION", "LOAD", one("REPLACE", "foo"), one(WRONG));
            case 5 -> addAsIs("FUNCTION", "LOAD", one(WRONG));
            case 6, 7, 8, 9, 10 -> call();
            case 11 -> list();
            case 12 -> restore();
            case 13 -> add("FUNCTION", "DELETE", one(LIBRARIES));
            case 14 -> add("FUNCTION", one("STATS", "KILL", "NOSUCH"));
            default -> {
                if (oneIn(3)) {
                    add("FUNCTION", "FLUSH", one("ASYNC", "sync", "foo"));
                } else {
                    sink.add(SHAPE, "FUNCTION", one("DUMP", "HELP"));
                }
            }
        }
    }

    private String library() {
        return library(one(LIBRARIES));
    }

    private String library(String name) {
        String engine = one("#!lua", "#!lua", "#!LUA");
        String body = "function(keys, args) " + one(BODIES) + " end";
        String function = one(FUNCTIONS);
        String code = oneIn(2)
                ? "redis.register_function('" + function + "', " + body + ")"
                : "redis.register_function{function_name='" + function + "', callback=" + body
                        + (oneIn(2) ? ", flags={" + one(FLAGS) + "}" : "")
                        + (oneIn(2) ? ", description='" + one("", "some text", "\\0\\r\\n") + "'" : "") + "}";
        return engine + " name=" + name + "\n" + code;
    }

    private void call() {
        String function = one(FUNCTIONS);
        switch (random.nextInt(8)) {
            case 0 -> add(one("FCALL", "FCALL_RO"), function, one("0", "1", "2", "3", "-1", "x", ""), draw.key(),
                    draw.value());
            case 1 -> add(one("FCALL", "FCALL_RO"), one("nosuch", "", "F", "alpha"), one("0", "x"));
            case 2 -> addAsIs("FCALL_RO", function, "1", draw.key());
            default -> addAsIs("FCALL", function, "1", draw.key(), draw.value());
        }
    }

    private void list() {
        switch (random.nextInt(5)) {
            case 0 -> add("FUNCTION", "LIST", one("foo", "LIBRARYNAME", "WITHCODE"), one("foo", "WITHCODE"), "alpha");
            case 1 -> sink.add(ANY_ORDER, "FUNCTION", "LIST");
            case 2 -> sink.add(ANY_ORDER, "FUNCTION", "LIST", "withcode", "LIBRARYNAME", one("*", "a*", "", "[Ab]*"));
            case 3 -> add("FUNCTION", "LIST", "LIBRARYNAME", "beta");
            default -> add("FUNCTION", "LIST", "LIBRARYNAME", one("beta", "nosuch", "?et?"), "WITHCODE");
        }
    }

    private void restore() {
        if (oneIn(3)) {
            // Redis names any one of several libraries that exist.
            addAsIs("FUNCTION", "RESTORE", payload(library("alpha"), library("beta")), one("FLUSH", "REPLACE"));
            return;
        }
        String payload = payload(library());
        switch (random.nextInt(6)) {
            case 0 -> addAsIs("FUNCTION", "RESTORE", payload);
            case 1 -> add("FUNCTION", "RESTORE", one("", "abc", payload + "x"), one("FLUSH", "APPEND", "foo"));
            case 2 -> addAsIs("FUNCTION", "RESTORE", payload, "FLUSH", "x");
            default -> addAsIs("FUNCTION", "RESTORE", payload, one("FLUSH", "APPEND", "REPLACE", "replace"));
        }
    }

    private static String payload(String... libraries) {
        StringBuilder all = new StringBuilder();
        for (String library : libraries) {
            all.append('\u00f5').append(Payloads.texts(library));
        }
        return Payloads.withFooter(all.toString(), 10);
    }
}
