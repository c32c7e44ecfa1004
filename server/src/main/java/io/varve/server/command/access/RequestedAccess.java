package io.varve.server.command.access;

import java.util.Arrays;
import java.util.List;

import io.varve.memory.offheap.Memory;
import io.varve.server.acl.AccessRequest;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.BatchArguments;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.ChannelUse;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.KeyPlaces;
import io.varve.server.command.spec.KeyUse;

/** The access that one command requests, derived from its spec and arguments. Confined to its event loop. */
public final class RequestedAccess implements AccessRequest {
    private final CommandSpec spec;
    private final Arguments arguments;
    private int[] keys = new int[4];
    private int keyCount;

    private RequestedAccess(CommandSpec spec, Arguments arguments) {
        this.spec = spec;
        this.arguments = arguments;
    }

    /** For a command of a batch, whose keys are bound. */
    public static RequestedAccess of(Batch batch, int command, CommandSpec spec) {
        RequestedAccess access = new RequestedAccess(spec, new BatchArguments(batch, command));
        int first = batch.firstKey(command);
        for (int i = first; i < first + batch.keyCount(command); i++) {
            access.add(batch.keyArgument(i));
        }
        return access;
    }

    /** For a command whose keys have to be found. */
    public static RequestedAccess of(Arguments arguments, CommandSpec spec) {
        RequestedAccess access = new RequestedAccess(spec, arguments);
        KeyPlaces.indexes(spec, arguments).forEach(access::add);
        return access;
    }

    private void add(int argument) {
        // A shard channel is at a key position, but is no key.
        if (spec.keyFlags(arguments, argument).contains(KeyUse.NO_KEY)) {
            return;
        }
        if (keyCount == keys.length) {
            keys = Arrays.copyOf(keys, 2 * keyCount);
        }
        keys[keyCount++] = argument;
    }

    @Override
    public int command() {
        return spec.id();
    }

    @Override
    public boolean isFree() {
        return spec.has(CommandFlag.NO_AUTH);
    }

    @Override
    public boolean isFirstArgument(String word) {
        if (arguments.argumentCount() < 2 || arguments.argumentLength(1) != word.length()) {
            return false;
        }
        long address = arguments.argumentAddress(1);
        for (int i = 0; i < word.length(); i++) {
            if (lower(Memory.getByte(address + i) & 0xFF) != lower(word.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static int lower(int c) {
        return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
    }

    @Override
    public int keyCount() {
        return keyCount;
    }

    @Override
    public int keyArgument(int index) {
        return keys[index];
    }

    @Override
    public long keyAddress(int index) {
        return arguments.argumentAddress(keys[index]);
    }

    @Override
    public int keyLength(int index) {
        return arguments.argumentLength(keys[index]);
    }

    @Override
    public int keyAccess(int index) {
        List<String> flags = spec.keyFlags(arguments, keys[index]);
        int access = flags.contains("access") ? READ : 0;
        return flags.contains("insert") || flags.contains("delete") || flags.contains("update")
                ? access | WRITE
                : access;
    }

    @Override
    public int channelCount() {
        ChannelUse use = spec.channelUse();
        return use == null ? 0 : use.count(arguments.argumentCount());
    }

    @Override
    public int channelArgument(int index) {
        return java.util.Objects.requireNonNull(spec.channelUse()).first() + index;
    }

    @Override
    public long channelAddress(int index) {
        return arguments.argumentAddress(channelArgument(index));
    }

    @Override
    public int channelLength(int index) {
        return arguments.argumentLength(channelArgument(index));
    }

    @Override
    public boolean areChannelsPatterns() {
        ChannelUse use = spec.channelUse();
        return use != null && use.patterns();
    }
}
