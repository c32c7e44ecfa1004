package io.varve.server.differential.random;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

import static io.varve.server.differential.random.ScriptStep.Comparison.ANY_ORDER;
import static io.varve.server.differential.random.ScriptStep.Comparison.EXACT;
import static io.varve.server.differential.random.ScriptStep.Comparison.PUSHES;

/**
 * Draws random scripts of commands of all families on few keys, so that they interact: right and wrong arity, wrong
 * types, transactions, subscriptions, all databases. Confined to the test's thread.
 */
public final class RandomCommands {
    private final RandomWords random;
    private final boolean knows7;
    /**
     * Whether everything is demoted to flash all the time: then some commands are refused in a transaction, and a
     * watched key has moved.
     */
    private final boolean overFlash;
    private final List<ScriptStep> script = new ArrayList<>();
    private final CommandGenerator strings;
    private final CommandGenerator keys;
    private final CommandGenerator hashes;
    private final CommandGenerator sets;
    private final CommandGenerator bitmaps;
    private final CommandGenerator hyperLogLogs;
    private final CommandGenerator sortedSets;
    private final CommandGenerator places;
    private final CommandGenerator lists;
    private final CommandGenerator streams;
    private final CommandGenerator sorts;
    private final CommandGenerator questions;
    private final CommandGenerator scripts;
    private final CommandGenerator functions;

    /**
     * @param knows7 whether the reference has the commands and options that came with Redis 7
     */
    public RandomCommands(long seed, boolean knows7) {
        this(seed, knows7, false);
    }

    /** @param overFlash whether everything is demoted to flash all the time */
    public RandomCommands(long seed, boolean knows7, boolean overFlash) {
        random = new RandomWords(new SplittableRandom(seed));
        this.knows7 = knows7;
        this.overFlash = overFlash;
        CommandGenerator.Source source = new CommandGenerator.Source(random, knows7, this::add, script::add);
        strings = new RandomStringCommands(source);
        keys = new RandomKeyCommands(source);
        hashes = new RandomHashCommands(source);
        sets = new RandomSetCommands(source);
        bitmaps = new RandomBitmapCommands(source);
        hyperLogLogs = new RandomHyperLogLogCommands(source);
        sortedSets = new RandomSortedSetCommands(source);
        places = new RandomGeoCommands(source);
        lists = new RandomListCommands(source);
        streams = new RandomStreamCommands(source);
        sorts = new RandomSortCommands(source);
        questions = new RandomServerCommands(source);
        scripts = new RandomScriptCommands(source);
        functions = new RandomFunctionCommands(source);
    }

    public List<ScriptStep> script(int commands) {
        while (script.size() < commands) {
            if (random.oneIn(60)) {
                transaction();
            } else if (random.oneIn(60)) {
                subscriptions();
            } else {
                anyCommand();
            }
        }
        return script;
    }

    /** As {@link #script}, mostly Lua scripts and functions. */
    public List<ScriptStep> luaScripts(int commands) {
        while (script.size() < commands) {
            if (random.oneIn(4)) {
                anyCommand();
            } else if (random.oneIn(3)) {
                functions.any();
            } else {
                scripts.any();
            }
        }
        return script;
    }

    /** A script that is mostly of commands on streams. */
    public List<ScriptStep> scriptOfStreams(int commands) {
        while (script.size() < commands) {
            if (random.oneIn(20)) {
                anyCommand();
            } else {
                streams.any();
            }
        }
        return script;
    }

    private void anyCommand() {
        if (knows7 && random.oneIn(25)) {
            questions.any();
            return;
        }
        if (knows7 && random.oneIn(3)) {
            switch (random.below(6)) {
                case 0, 1, 2 -> sets.any();
                case 3, 4 -> bitmaps.any();
                default -> hyperLogLogs.any();
            }
            return;
        }
        if (knows7 && random.oneIn(15)) {
            if (random.oneIn(3)) {
                functions.any();
            } else {
                scripts.any();
            }
            return;
        }
        if (random.oneIn(4)) {
            sortedSets.any();
            return;
        }
        if (random.oneIn(8)) {
            places.any();
            return;
        }
        if (random.oneIn(10)) {
            sorts.any();
            return;
        }
        if (random.oneIn(5)) {
            lists.any();
            return;
        }
        // A tree is never demoted, and streams with groups are trees.
        if (knows7 && !overFlash && random.oneIn(5)) {
            streams.any();
            return;
        }
        int kind = random.below(100);
        if (kind < 40) {
            strings.any();
        } else if (kind < 68) {
            keys.any();
        } else if (kind < 96) {
            hashes.any();
        } else {
            databaseCommand();
        }
    }

    private void databaseCommand() {
        switch (random.below(10)) {
            case 0, 1, 2, 3, 4 -> add("SELECT", random.oneIn(3) ? random.database() : random.one("0", "1", "2"));
            case 5, 6 -> add("SWAPDB", random.database(), random.database());
            case 7, 8 -> add("DBSIZE");
            default -> add(random.oneIn(6) ? "FLUSHALL" : "FLUSHDB", random.one("ASYNC", "SYNC", "sync", "foo"));
        }
    }

    /**
     * Between MULTI and EXEC only commands whose replies are the same byte for byte: EXEC's are compared as a whole.
     */
    private void transaction() {
        if (random.oneIn(2)) {
            watch();
        }
        int from = script.size();
        script.add(ScriptStep.exact("MULTI"));
        int count = random.oneIn(10) ? 200 : random.below(8);
        for (int i = 0; i < count; i++) {
            if (random.oneIn(60)) {
                add(random.one("MULTI", "WATCH", "UNWATCH", "PING", "ECHO"), random.key());
            } else if (random.oneIn(100)) {
                add("nosuch", "argument");
            } else if (random.oneIn(40)) {
                pubSubInTransaction();
            } else {
                anyCommand();
            }
        }
        script.subList(from, script.size()).removeIf(step -> !mayBeInTransaction(step));
        add(random.oneIn(5) ? "DISCARD" : "EXEC");
        // Whatever has become of the words above: it is over.
        script.add(ScriptStep.exact("DISCARD"));
        endSubscriptions();
    }

    /**
     * A key that is demoted counts as changed: with flash, only keys are watched that change in any case, do not exist,
     * or are unwatched.
     */
    private void watch() {
        if (!overFlash) {
            add("WATCH", random.key(), random.key());
            if (random.oneIn(2)) {
                anyCommand();
            }
            if (random.oneIn(8)) {
                add("UNWATCH");
            }
            return;
        }
        String key = random.key();
        switch (random.below(3)) {
            case 0 -> {
                script.add(ScriptStep.exact("WATCH", key));
                script.add(ScriptStep.exact("SET", key, random.value()));
            }
            case 1 -> script.add(ScriptStep.exact("WATCH", "watched and never there"));
            default -> {
                script.add(ScriptStep.exact("WATCH", key, random.key()));
                script.add(ScriptStep.exact("UNWATCH"));
            }
        }
    }

    /** Each of several names is confirmed in its own reply, which EXEC's count does not include. */
    private void pubSubInTransaction() {
        String command = random.one("SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE",
                "SUNSUBSCRIBE");
        switch (random.below(4)) {
            case 0, 1 -> script.add(ScriptStep.exact(command, random.key()));
            // It has no subscribers: the message would stand among the replies there, and comes behind them here.
            case 2 -> add(random.one("PUBLISH", "SPUBLISH"), "nobody", random.value());
            default -> script.add(ScriptStep.exact("PUBSUB", random.one("NUMPAT", "NUMSUB", "nosuch")));
        }
    }

    /** Subscriptions, and the commands that are allowed meanwhile. */
    private void subscriptions() {
        for (int i = 1 + random.below(19); i > 0; i--) {
            switch (random.below(12)) {
                case 0, 1 -> add(PUSHES, "SUBSCRIBE", random.key(), random.key());
                case 2 -> add(PUSHES, "PSUBSCRIBE", random.pattern(), random.pattern());
                case 3 -> add(PUSHES, knows7 ? "SSUBSCRIBE" : "SUBSCRIBE", random.key());
                case 4 -> add(PUSHES, unsubscribe(), random.key(), random.pattern(), random.key());
                case 5 -> add(PUSHES, unsubscribe());
                case 6, 7 -> add(knows7 ? random.one("PUBLISH", "PUBLISH", "SPUBLISH") : "PUBLISH", random.key(),
                        random.value());
                case 8 ->
                    add(ANY_ORDER, "PUBSUB", knows7 ? random.one("CHANNELS", "SHARDCHANNELS", "channels") : "CHANNELS",
                            random.pattern());
                case 9 -> add("PUBSUB", knows7 ? random.one("NUMSUB", "SHARDNUMSUB", "numsub") : "NUMSUB", random.key(),
                        random.key());
                case 10 -> add(random.one("PUBSUB", "PING"), random.one("NUMPAT", "x"));
                default -> anyCommand();
            }
        }
        endSubscriptions();
    }

    private String unsubscribe() {
        return knows7
                ? random.one("UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "unsubscribe")
                : random.one("UNSUBSCRIBE", "PUNSUBSCRIBE");
    }

    private void endSubscriptions() {
        script.add(new ScriptStep(PUSHES, List.of("UNSUBSCRIBE")));
        script.add(new ScriptStep(PUSHES, List.of("PUNSUBSCRIBE")));
        if (knows7) {
            script.add(new ScriptStep(PUSHES, List.of("SUNSUBSCRIBE")));
        }
    }

    private boolean mayBeInTransaction(ScriptStep step) {
        if (step.comparison() != EXACT) {
            return false;
        }
        return !overFlash || !mayReadFlash(step.arguments());
    }

    /**
     * Whether a command may read keys in another database, or keys that it does not name: within a transaction it may
     * be refused.
     */
    private static boolean mayReadFlash(List<String> words) {
        List<String> options = words.stream().skip(2).map(word -> word.toUpperCase(Locale.ROOT)).toList();
        return switch (words.getFirst().toUpperCase(Locale.ROOT)) {
            case "SWAPDB", "DBSIZE", "FLUSHALL", "FLUSHDB", "MOVE" -> true;
            case "COPY" -> options.contains("DB");
            // Scripts and functions whose calls may use a key that they do not declare.
            case "EVAL", "EVAL_RO" -> words.size() > 2 && words.get(1).contains("redis.")
                    && (words.get(1).contains("ARGV") || !words.get(2).equals("1"));
            case "EVALSHA", "EVALSHA_RO", "FCALL", "FCALL_RO" -> words.size() > 2 && !words.get(2).equals("1");
            case "SORT", "SORT_RO" -> options.contains("BY") || options.contains("GET");
            default -> false;
        };
    }

    // --- steps

    private void add(String... arguments) {
        add(EXACT, arguments);
    }

    private void add(ScriptStep.Comparison comparison, String... arguments) {
        List<String> words = new ArrayList<>(List.of(arguments));
        // A name alone behind COMMAND GETKEYS is lawful from 7.4 on.
        int min = words.size() > 1 && words.get(1).startsWith("GETKEYS") ? 4 : 1;
        if (random.oneIn(40) && words.size() > min) {
            words.removeLast();
        } else if (random.oneIn(40)) {
            words.add(random.one("foo", "", "NX", "LEN", "1"));
        }
        if (random.oneIn(8)) {
            words.set(0, words.getFirst().toLowerCase(Locale.ROOT));
        }
        script.add(new ScriptStep(comparison, List.copyOf(words)));
    }
}
