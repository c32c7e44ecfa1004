package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;

import io.varve.server.differential.random.lua.Digests;
import io.varve.server.differential.random.lua.RandomLua;

import static io.varve.server.differential.random.ScriptStep.Comparison.EXACT;

/**
 * Draws EVAL, EVALSHA, their read-only variants and SCRIPT: random programs, and scripts that call the commands of
 * other families, with declared keys and without. Confined to the test's thread.
 */
final class RandomScriptCommands extends CommandGenerator {
    private static final String NONE = "0123456789abcdef0123456789abcdef01234567";
    private static final String[] KNOWN = {"return 1", "return KEYS", "return ARGV",
            "return redis.call('get', KEYS[1])",
            "return redis.call('set', KEYS[1], ARGV[1])", "return {KEYS[1], ARGV[1]}",
            "return redis.status_reply('fine')", "return redis.error_reply('Not fine')"};
    private static final String[] OF_ONE_KEY = {"get", "strlen", "llen", "hlen", "scard", "zcard", "type", "exists",
            "del",
            "incr", "lpop", "persist", "object"};
    private static final String[] ODD = {"return {1, 2, nil, 4}", "return {ok = 'a', err = 'b'}",
            "return {err = 'a b'}",
            "return {double = 1.5}", "return {map = {a = 1}}", "return {set = {a = true}}",
            "return {big_number = '12'}",
            "return {verbatim_string = {format = 'txt', string = 'a'}}", "return 3.99", "return -3.99", "return true",
            "return false", "return nil", "return", "return {true, false, {nil}, {}}", "return 1e300", "return 0/0",
            "redis.setresp(3) return {true, false}", "return redis.setresp(4)", "x = 1", "return x",
            "return redis.call()",
            "return redis.call('nosuch')", "return redis.call('get')", "return redis.call('multi')",
            "return redis.call('set', 'a', {})", "return redis.pcall('incr', KEYS[1], 1)", "local a a.b = 1",
            "return redis.acl_check_cmd('get', 'a')", "return redis.acl_check_cmd('config')",
            "return redis.acl_check_cmd('set')",
            "return redis.acl_check_cmd('config', 'nosuch')", "return redis.sha1hex({})", "return redis.sha1hex('a')",
            "return redis.set_repl()",
            "#!lua flags=no-writes,\nreturn 1", "#!lua flags=\nreturn 1", "return redis.log(9, 'x')", "return 1 +",
            "#!lua\nreturn 1",
            "#!lua flags=no-writes\nreturn redis.call('set', KEYS[1] or 'a', 1)", "#!lua flags=nosuch\nreturn 1",
            "#!lua name=x\nreturn 1", "#!lua", "#!python\nreturn 1", "return redis.REPL_ALL .. redis.LOG_WARNING",
            "return pcall(function() return redis.call('incr', 'nosuch', 'x') end)",
            "redis.call('select', 1) return redis.call('get', 'a')"};

    private final RandomLua lua;
    private final List<List<String>> drawn = new ArrayList<>();
    private final List<CommandGenerator> families;

    RandomScriptCommands(Source source) {
        super(source);
        lua = new RandomLua(random);
        Source inner = new Source(draw, knows7, (comparison, words) -> keep(new ScriptStep(comparison, List.of(words))),
                this::keep);
        families = List.of(new RandomStringCommands(inner), new RandomKeyCommands(inner), new RandomHashCommands(inner),
                new RandomListCommands(inner), new RandomSortedSetCommands(inner), new RandomSetCommands(inner),
                new RandomBitmapCommands(inner), new RandomGeoCommands(inner));
    }

    private void keep(ScriptStep step) {
        if (step.comparison() == EXACT) {
            drawn.add(step.arguments());
        }
    }

    @Override
    void any() {
        switch (random.nextInt(16)) {
            case 0, 1, 2, 3 -> addAsIs(one("EVAL", "EVAL", "EVAL_RO"), lua.program(), "0");
            case 4, 5, 6, 7, 8 -> command();
            case 9 -> ofOneKey();
            case 10 -> add(one("EVAL", "EVAL_RO"), one(ODD), one("0", "1"), draw.key(), draw.value());
            case 11 -> add(one("EVAL", "EVALSHA"), one(KNOWN), one("0", "1", "2", "-1", "3", "x"), draw.key(),
                    draw.value());
            case 12 -> add("SCRIPT", "LOAD", one(KNOWN));
            case 13 -> byDigest();
            case 14 -> {
                // Known in both servers, or in none.
                addAsIs("SCRIPT", "LOAD", KNOWN[0]);
                add("SCRIPT", "EXISTS", Digests.sha1(KNOWN[0]), NONE, one("x", Digests.sha1(KNOWN[0]).toUpperCase(
                        java.util.Locale.ROOT)));
            }
            default -> {
                if (oneIn(4)) {
                    addAsIs("SCRIPT", "KILL");
                } else {
                    add("SCRIPT", one("FLUSH", "KILL", "NOSUCH"), one("SYNC", "ASYNC", "foo"));
                }
            }
        }
    }

    private void byDigest() {
        String script = one(KNOWN);
        addAsIs("SCRIPT", "LOAD", script);
        add(one("EVALSHA", "EVALSHA_RO"), oneIn(10) ? NONE : Digests.sha1(script), one("0", "1"), draw.key(),
                draw.value());
    }

    private void ofOneKey() {
        String command = one(OF_ONE_KEY);
        addAsIs(one("EVAL", "EVAL_RO"), "return redis." + one("call", "pcall") + "('" + command + "', KEYS[1])", "1",
                draw.key());
    }

    /** A command of another family. */
    private void command() {
        drawn.clear();
        families.get(random.nextInt(families.size())).any();
        for (List<String> words : drawn) {
            boolean declares = words.size() > 1 && oneIn(2);
            String call = one("call", "pcall");
            List<String> eval = new ArrayList<>(List.of(one("EVAL", "EVAL", "EVAL", "EVAL_RO")));
            if (declares) {
                eval.add("return redis." + call + "(ARGV[1], KEYS[1], unpack(ARGV, 2))");
                eval.addAll(List.of("1", words.get(1), words.get(0)));
                eval.addAll(words.subList(2, words.size()));
            } else {
                eval.add("return redis." + call + "(unpack(ARGV))");
                eval.add("0");
                eval.addAll(words);
            }
            addAsIs(eval.toArray(String[]::new));
        }
    }
}
