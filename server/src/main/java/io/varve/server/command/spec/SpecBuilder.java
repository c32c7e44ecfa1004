package io.varve.server.command.spec;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Builds the description of one command. Confined to the thread that builds the table.
 *
 * @param <B> the builder's own type
 */
public abstract class SpecBuilder<B extends SpecBuilder<B>> {
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
    CommandSpec.@Nullable UseNarrowing useNarrowing;
    @Nullable
    ChannelUse channelUse;
    CommandSpec.@Nullable Secrets secrets;
    CommandSpec.@Nullable OtherKeys otherKeys;
    CommandSpec.@Nullable Declarations declarations;
    final List<String> categories = new ArrayList<>();
    final List<String> tips = new ArrayList<>();
    String group = "generic";
    String since = "1.0.0";
    String complexity = "O(1)";
    String summary = "";
    boolean runnable;
    final EnumSet<CommandTrait> traits = EnumSet.noneOf(CommandTrait.class);
    /** 0 if the command does not wait for keys. */
    int timeoutArgument;
    @Nullable
    TimeoutFinder timeoutFinder;
    final List<SpecBuilder<?>> subcommands = new ArrayList<>();

    /** @param name in lower case */
    protected SpecBuilder(String name) {
        if (!name.equals(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("A command's name is lower case: " + name);
        }
        this.name = name;
    }

    /** This builder. */
    protected abstract B self();

    /** Declares that the command has a handler, not only subcommands. */
    protected void runnable() {
        runnable = true;
    }

    /** Adds a subcommand. */
    protected void addSubcommand(SpecBuilder<?> child) {
        subcommands.add(child);
    }

    /** The description. */
    protected CommandSpec buildSpec() {
        return new CommandSpec(this, null);
    }

    public B arity(int value) {
        arity = value;
        return self();
    }

    public B flags(CommandFlag... values) {
        Collections.addAll(flags, values);
        return self();
    }

    /** Declares one key. */
    public B key(int index) {
        return keys(index, index, 1);
    }

    public B keys(int first, int last, int step) {
        firstKey = first;
        lastKey = last;
        keyStep = step;
        return self();
    }

    /**
     * Declares how the keys are used, in the words of COMMAND INFO, such as {@code RW access update}. One value applies
     * to all keys. With several values, each describes one key, and the last one all that follow.
     */
    public B access(String... uses) {
        access.clear();
        Collections.addAll(access, uses);
        return self();
    }

    /**
     * Declares keys that follow an argument with their number, alone or after the keys of {@link #keys}. Call it after
     * {@link #keys}.
     *
     * @param number the argument with the number of keys
     * @param use how they are used, see {@link #access}
     */
    public B countedKeys(int number, String use) {
        numberOfKeysAt = number;
        countedAccess = use;
        return keyFinder(KeyFinder.counted(number, firstKey == 0 ? 0 : lastKey));
    }

    /**
     * Declares a key that follows a keyword among the options; a {@link #keyFinder} has to find it.
     *
     * @param from the first argument that may be the keyword
     * @param use how the key is used, see {@link #access}
     */
    public B keyBehind(String word, int from, String use) {
        behindWords.add(new KeyUse(from, 0, 1, 0, false, word, List.of(use.split(" "))));
        return self();
    }

    /**
     * Declares the keys that follow a keyword up to the last argument; a {@link #keyFinder} has to find them.
     *
     * @param from the first argument that may be the keyword; negative: the last one, from the end
     * @param use how the keys are used, see {@link #access}
     */
    public B keysBehind(String word, int from, String use) {
        behindWords.add(new KeyUse(from, -1, 1, 0, false, word, List.of(use.split(" "))));
        return self();
    }

    /**
     * Declares the keys that follow a keyword and take half of the remaining arguments; a {@link #keyFinder} has to
     * find them.
     *
     * @param from the first argument that may be the keyword
     * @param use how the keys are used, see {@link #access}
     */
    public B halfBehind(String word, int from, String use) {
        behindWords.add(new KeyUse(from, -1, 1, 2, false, word, List.of(use.split(" "))));
        return self();
    }

    /**
     * Declares keys that have no fixed position: those of BY and GET of SORT, or one after a keyword that may be
     * anywhere.
     *
     * @param use how the keys are used, see {@link #access}
     */
    public B unknownKeys(String use) {
        behindWords.add(KeyUse.unknown(List.of(use.split(" "))));
        return self();
    }

    /** Declares that the command may read keys that it does not name. */
    public B usesOtherKeys(CommandSpec.OtherKeys value) {
        otherKeys = value;
        return self();
    }

    /** Sets what finds the declarations of the scripts that the command runs. */
    public B declarations(CommandSpec.Declarations value) {
        declarations = value;
        return self();
    }

    /** Declares the key use of given arguments, for {@link KeyUse#VARIABLE}. */
    public B narrowedAccess(CommandSpec.UseNarrowing value) {
        useNarrowing = value;
        return self();
    }

    /** Declares the channel arguments that ACL rules check; the last may be counted from the end. */
    public B channels(int first, int last) {
        channelUse = new ChannelUse(first, last, false);
        return self();
    }

    /** Declares the channel pattern arguments that ACL rules check; the last may be counted from the end. */
    public B channelPatterns(int first, int last) {
        channelUse = new ChannelUse(first, last, true);
        return self();
    }

    /** Declares arguments that are never shown, such as passwords. */
    public B secrets(CommandSpec.Secrets value) {
        secrets = value;
        return self();
    }

    public B keyFinder(KeyFinder value) {
        keyFinder = value;
        flags.add(CommandFlag.MOVABLEKEYS);
        return self();
    }

    /** Adds ACL categories beyond those that follow from the flags, such as {@code @string}. */
    public B categories(String... values) {
        Collections.addAll(categories, values);
        return self();
    }

    /** Adds command tips, such as {@code nondeterministic_output}. */
    public B tips(String... values) {
        Collections.addAll(tips, values);
        return self();
    }

    public B group(String value) {
        group = value;
        return self();
    }

    /** Sets the Redis version that introduced the command. */
    public B since(String value) {
        since = value;
        return self();
    }

    public B complexity(String value) {
        complexity = value;
        return self();
    }

    public B summary(String value) {
        summary = value;
        return self();
    }

    /**
     * Declares that the command may wait for its keys.
     *
     * @param argument the argument with the timeout in seconds; counted from the end if negative
     */
    public B waitsForKeys(int argument) {
        timeoutArgument = argument;
        return flags(CommandFlag.BLOCKING);
    }

    /**
     * Declares that the command may wait for its keys if it has a timeout, in milliseconds.
     *
     * @param value finds the argument with the timeout
     */
    public B waitsForKeys(TimeoutFinder value) {
        timeoutFinder = value;
        return flags(CommandFlag.BLOCKING);
    }

    /** Declares what the dispatcher has to know of the command. */
    public B traits(CommandTrait... values) {
        Collections.addAll(traits, values);
        return self();
    }

    /**
     * One use for all keys, or one per key if the command uses them differently; the last one covers all following
     * keys.
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
