package io.varve.server.command;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/** Describes a command. Confined to the thread that builds the table. */
public final class CommandBuilder {
    final String name;
    int arity = -1;
    final EnumSet<CommandFlag> flags = EnumSet.noneOf(CommandFlag.class);
    int firstKey;
    int lastKey;
    int keyStep;
    private final List<String> access = new ArrayList<>();
    private int numberOfKeysAt;
    private final List<KeyUse> behindWords = new ArrayList<>();
    private String countedAccess = "";
    @Nullable
    KeyFinder keyFinder;
    boolean forDebugging;
    CommandSpec.@Nullable UseNarrowing useNarrowing;
    @Nullable
    ChannelUse channelUse;
    CommandSpec.@Nullable Secrets secrets;
    CommandSpec.@Nullable OtherKeys otherKeys;
    CommandSpec.@Nullable TargetDatabase targetDatabase;
    boolean looksAtAllKeys;
    boolean changesAllKeys;
    final List<String> categories = new ArrayList<>();
    final List<String> tips = new ArrayList<>();
    String group = "generic";
    String since = "1.0.0";
    String complexity = "O(1)";
    String summary = "";
    @Nullable
    Handler handler;
    boolean sharesClock;
    boolean allOrNothing;
    boolean keysInTurn;
    boolean runsAtOnce;
    boolean waitsForFlash;
    boolean allowedWhileListening;
    boolean pushes;
    boolean publishes;
    /** 0: it does not wait for keys. */
    int timeoutArgument;
    final List<CommandBuilder> subcommands = new ArrayList<>();

    CommandBuilder(String name) {
        if (!name.equals(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("A command's name is lower case: " + name);
        }
        this.name = name;
    }

    public CommandBuilder arity(int value) {
        arity = value;
        return this;
    }

    public CommandBuilder flags(CommandFlag... values) {
        Collections.addAll(flags, values);
        return this;
    }

    /** One key. */
    public CommandBuilder key(int index) {
        return keys(index, index, 1);
    }

    public CommandBuilder keys(int first, int last, int step) {
        firstKey = first;
        lastKey = last;
        keyStep = step;
        return this;
    }

    /**
     * What is done to the keys, in the words of COMMAND INFO, such as {@code RW access update}: once for all keys, or
     * once for each, the last time for all that follow.
     */
    public CommandBuilder access(String... uses) {
        access.clear();
        Collections.addAll(access, uses);
        return this;
    }

    /**
     * The keys, or those behind the ones that {@link #keys} tells, are as many as an argument says and follow it: to be
     * called after {@link #keys}.
     *
     * @param number the argument
     * @param use    what is done to them, see {@link #access}
     */
    public CommandBuilder countedKeys(int number, String use) {
        numberOfKeysAt = number;
        countedAccess = use;
        return keyFinder(KeyFinder.counted(number, firstKey == 0 ? 0 : lastKey));
    }

    /**
     * A key that follows a word among the options; a {@link #keyFinder} has to find it.
     *
     * @param from the first argument that may be the word
     * @param use  what is done to it, see {@link #access}
     */
    public CommandBuilder keyBehind(String word, int from, String use) {
        behindWords.add(new KeyUse(from, 0, 1, false, word, List.of(use.split(" "))));
        return this;
    }

    /**
     * Keys that are not told by their places: those that BY and GET of SORT lead to, or one behind a word that may stand anywhere.
     *
     * @param use what is done to them, see {@link #access}
     */
    public CommandBuilder unknownKeys(String use) {
        behindWords.add(KeyUse.unknown(List.of(use.split(" "))));
        return this;
    }

    /** Its handler holds one key at a time, so very many are bound when it asks for them. */
    public CommandBuilder keysInTurn() {
        keysInTurn = true;
        return this;
    }

    /** It may look at keys that it does not name. */
    public CommandBuilder usesOtherKeys(CommandSpec.OtherKeys value) {
        otherKeys = value;
        return this;
    }

    /** It may put the last key that it names into another database than the client's. */
    public CommandBuilder targetDatabase(CommandSpec.TargetDatabase value) {
        targetDatabase = value;
        return this;
    }

    /** It names no key, and looks at whatever keys there are. */
    public CommandBuilder looksAtAllKeys() {
        looksAtAllKeys = true;
        return this;
    }

    /** It names no key, and changes whatever keys there are. */
    public CommandBuilder changesAllKeys() {
        changesAllKeys = true;
        return this;
    }

    /** For {@link KeyUse#VARIABLE}: what a given command does to its keys. */
    public CommandBuilder narrowedAccess(CommandSpec.UseNarrowing value) {
        useNarrowing = value;
        return this;
    }

    /** Arguments that are channels, which users' rules are asked about; the last may be counted from the end. */
    public CommandBuilder channels(int first, int last) {
        channelUse = new ChannelUse(first, last, false);
        return this;
    }

    /** The same for patterns of channels. */
    public CommandBuilder channelPatterns(int first, int last) {
        channelUse = new ChannelUse(first, last, true);
        return this;
    }

    /** Arguments that are shown to nobody. */
    public CommandBuilder secrets(CommandSpec.Secrets value) {
        secrets = value;
        return this;
    }

    /** Runs only where {@code enable-debug-command} allows it. */
    public CommandBuilder forDebugging() {
        forDebugging = true;
        return this;
    }

    public CommandBuilder keyFinder(KeyFinder value) {
        keyFinder = value;
        flags.add(CommandFlag.MOVABLEKEYS);
        return this;
    }

    /** ACL categories beyond those that follow from the flags, such as {@code @string}. */
    public CommandBuilder categories(String... values) {
        Collections.addAll(categories, values);
        return this;
    }

    /** Command tips, such as {@code nondeterministic_output}. */
    public CommandBuilder tips(String... values) {
        Collections.addAll(tips, values);
        return this;
    }

    public CommandBuilder group(String value) {
        group = value;
        return this;
    }

    /** The version of Redis that brought it. */
    public CommandBuilder since(String value) {
        since = value;
        return this;
    }

    public CommandBuilder complexity(String value) {
        complexity = value;
        return this;
    }

    public CommandBuilder summary(String value) {
        summary = value;
        return this;
    }

    /** It looks at one key and a value of bounded length, and walks nothing: see {@code CommandTimes}. */
    public CommandBuilder sharesClock() {
        sharesClock = true;
        return this;
    }

    /** It has several keys, and has changed none of them when it finds no room: it may be run again. */
    public CommandBuilder allOrNothing() {
        allOrNothing = true;
        return this;
    }

    /** It is executed after MULTI too, not queued. */
    public CommandBuilder runsAtOnce() {
        runsAtOnce = true;
        return this;
    }

    /** It asks flash, if there is one, for more than the keys that it names. */
    public CommandBuilder waitsForFlash() {
        waitsForFlash = true;
        return this;
    }

    /** A client that listens, in RESP2, may send it. */
    public CommandBuilder allowedWhileListening() {
        allowedWhileListening = true;
        return this;
    }

    /** Its replies are pushes: CLIENT REPLY does not leave them out. */
    public CommandBuilder pushes() {
        pushes = true;
        return this;
    }

    /** It leaves messages for others. */
    public CommandBuilder publishes() {
        publishes = true;
        return this;
    }

    /**
     * It may wait for its keys.
     *
     * @param argument that tells how long, in seconds; negative: counted from the end
     */
    public CommandBuilder waitsForKeys(int argument) {
        timeoutArgument = argument;
        return flags(CommandFlag.BLOCKING);
    }

    public CommandBuilder handler(Handler value) {
        handler = value;
        return this;
    }

    public CommandBuilder subcommand(CommandBuilder child) {
        subcommands.add(child);
        return this;
    }

    CommandSpec build() {
        return new CommandSpec(this, null);
    }

    /**
     * One use for all keys, or one for each key where the command does different things to them; the last of them is that
     * of all keys that follow.
     */
    List<KeyUse> keyUses() {
        List<KeyUse> uses = new ArrayList<>();
        int count = firstKey == 0 ? 0 : access.size();
        for (int i = 0; i < count; i++) {
            int first = firstKey + i * keyStep;
            int last = i < count - 1 ? 0 : lastKey < 0 ? lastKey : lastKey - first;
            uses.add(new KeyUse(first, last, keyStep, false, List.of(access.get(i).split(" "))));
        }
        uses.addAll(behindWords);
        if (numberOfKeysAt > 0) {
            uses.add(new KeyUse(numberOfKeysAt, 0, 1, true, List.of(countedAccess.split(" "))));
        }
        return List.copyOf(uses);
    }
}
