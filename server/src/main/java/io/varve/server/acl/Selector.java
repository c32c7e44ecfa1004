package io.varve.server.acl;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One part of a user's rules: a set of commands, on a set of keys and channels. Immutable. A command is permitted if at
 * least one selector permits all of it: the root selector, or one that was given in parentheses.
 */
public final class Selector {
    private final GlobMatch glob;
    private final boolean allCommands;
    private final boolean allKeys;
    private final boolean allChannels;
    private final long[] commands;
    /** For commands that are not permitted: first arguments with which they are permitted. */
    private final Map<Integer, List<String>> firstArguments;
    private final List<Pattern> keys;
    private final List<Pattern> channels;
    /** Whether commands of later versions are permitted. */
    private final boolean futureCommands;
    private final List<String> commandRuleList;

    Selector(SelectorDraft draft, GlobMatch glob) {
        this.glob = glob;
        allCommands = draft.allCommands();
        allKeys = draft.allKeys();
        allChannels = draft.allChannels();
        commands = draft.commands().clone();
        firstArguments = draft.firstArguments();
        keys = List.copyOf(draft.keys());
        channels = List.copyOf(draft.channels());
        futureCommands = draft.futureCommands();
        commandRuleList = List.copyOf(draft.commandRuleList());
    }

    boolean allCommands() {
        return allCommands;
    }

    boolean allKeys() {
        return allKeys;
    }

    boolean allChannels() {
        return allChannels;
    }

    long[] commands() {
        return commands;
    }

    Map<Integer, List<String>> firstArguments() {
        return firstArguments;
    }

    boolean futureCommands() {
        return futureCommands;
    }

    /** The rules about commands that follow the one about all commands. */
    List<String> commandRuleList() {
        return commandRuleList;
    }

    List<Pattern> keys() {
        return keys;
    }

    List<Pattern> channels() {
        return channels;
    }

    boolean isUnrestricted() {
        return allCommands && allKeys && allChannels;
    }

    // --- checks

    /** @return {@link Denial#NONE}, or the denial */
    long check(AccessRequest request) {
        if (!permitsCommand(request)) {
            return Denial.COMMAND.at(0);
        }
        if (!allKeys) {
            for (int i = 0; i < request.keyCount(); i++) {
                if (!permitsKey(request.keyAddress(i), request.keyLength(i), request.keyAccess(i))) {
                    return Denial.KEY.at(request.keyArgument(i));
                }
            }
        }
        if (!allChannels) {
            boolean patterns = request.areChannelsPatterns();
            for (int i = 0; i < request.channelCount(); i++) {
                if (!permitsChannel(request.channelAddress(i), request.channelLength(i), patterns)) {
                    return Denial.CHANNEL.at(request.channelArgument(i));
                }
            }
        }
        return Denial.NONE;
    }

    boolean permitsCommand(AccessRequest request) {
        if (allCommands || request.isFree() || SelectorDraft.isSet(commands, request.command())) {
            return true;
        }
        List<String> words = firstArguments.isEmpty() ? null : firstArguments.get(request.command());
        return words != null && isFirstArgument(request, words);
    }

    private static boolean isFirstArgument(AccessRequest request, List<String> words) {
        for (int i = 0; i < words.size(); i++) {
            if (request.isFirstArgument(words.get(i))) {
                return true;
            }
        }
        return false;
    }

    private boolean permitsKey(long address, int length, int access) {
        for (int i = 0; i < keys.size(); i++) {
            Pattern pattern = keys.get(i);
            if (pattern.permits(access) && pattern.matches(glob, address, length)) {
                return true;
            }
        }
        return false;
    }

    /** Whether every key may be accessed in this way, named or not. */
    boolean permitsAllKeys(int access) {
        return allKeys || keys.stream().anyMatch(pattern -> pattern.text().equals("*") && pattern.permits(access));
    }

    /** @param pattern whether it is a pattern, which must be one of the user's own */
    boolean permitsChannel(long address, int length, boolean pattern) {
        if (allChannels) {
            return true;
        }
        for (int i = 0; i < channels.size(); i++) {
            Pattern mine = channels.get(i);
            if (pattern ? mine.isSame(address, length) : mine.matches(glob, address, length)) {
                return true;
            }
        }
        return false;
    }

    // --- formatting

    /** The rules about commands, such as {@code -@all +get …}. */
    public String commandRules() {
        String all = futureCommands ? "+@all" : "-@all";
        return commandRuleList.isEmpty() ? all : all + " " + String.join(" ", commandRuleList);
    }

    /** The rules about keys, such as {@code ~a %R~b}, separated by blanks. */
    public String keyRules() {
        return allKeys ? "~*" : keys.stream().map(Pattern::keyRule).collect(Collectors.joining(" "));
    }

    /** The rules about channels, such as {@code &a &b}, separated by blanks. */
    public String channelRules() {
        return allChannels
                ? "&*"
                : channels.stream().map(pattern -> "&" + pattern.text()).collect(Collectors.joining(" "));
    }

    /** All rules; they recreate this selector. */
    String describe() {
        return joined(keyRules(), allChannels ? "" : "resetchannels", channelRules(), commandRules());
    }

    private static String joined(String... parts) {
        StringBuilder text = new StringBuilder();
        for (String part : parts) {
            if (!part.isEmpty()) {
                text.append(text.isEmpty() ? "" : " ").append(part);
            }
        }
        return text.toString();
    }
}
