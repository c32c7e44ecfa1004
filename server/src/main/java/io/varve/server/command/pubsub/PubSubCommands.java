package io.varve.server.command.pubsub;

import java.util.Collection;
import java.util.List;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.Arguments;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.HelpText;
import io.varve.server.command.Invocation;
import io.varve.server.command.KeyUse;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Content;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.Scope;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.LOADING;
import static io.varve.server.command.CommandFlag.NOSCRIPT;
import static io.varve.server.command.CommandFlag.PUBSUB;
import static io.varve.server.command.CommandFlag.STALE;

/** SUBSCRIBE, PUBLISH, PUBSUB and their relatives. Immutable. */
public final class PubSubCommands {
    private static final String GROUP = "pubsub";
    private static final String NAMES = "O(N) in the names";
    private static final String PER_LISTENER = "O(N) in the clients that listen to the channel";
    private static final String TOO_LONG = "ERR argument is too long";

    private final Channels channels;

    public PubSubCommands(Channels channels) {
        this.channels = channels;
    }

    /** Adds the family. */
    public void register(CommandTable.Builder table) {
        table.add(subscribing("subscribe", -2, "2.0.0", "Listens to channels.").channels(1, -1)
                .handler(call -> subscribe(call, Scope.CHANNEL)));
        table.add(subscribing("unsubscribe", -1, "2.0.0", "Listens to channels no more, to those named or to any.")
                .handler(call -> unsubscribe(call, Scope.CHANNEL)));
        table.add(subscribing("psubscribe", -2, "2.0.0", "Listens to all channels that match patterns.")
                .channelPatterns(1, -1).handler(call -> subscribe(call, Scope.PATTERN)));
        table.add(subscribing("punsubscribe", -1, "2.0.0", "Listens to patterns no more, to those named or to any.")
                .handler(call -> unsubscribe(call, Scope.PATTERN)));
        table.add(subscribing("ssubscribe", -2, "7.0.0", "Listens to shard channels.").keys(1, -1, 1)
                .access(KeyUse.NO_KEY).channels(1, -1).handler(call -> subscribe(call, Scope.SHARD_CHANNEL)));
        table.add(
                subscribing("sunsubscribe", -1, "7.0.0", "Listens to shard channels no more, to those named or to any.")
                        .keys(1, -1, 1).access(KeyUse.NO_KEY)
                        .handler(call -> unsubscribe(call, Scope.SHARD_CHANNEL)));
        table.add(describe("publish", 3, "2.0.0", "Tells a message to all who listen to a channel.").flags(FAST)
                .complexity("O(N+M) in the clients that listen to the channel and in all patterns")
                .channels(1, 1).publishes().handler(call -> publish(call, Scope.CHANNEL)));
        table.add(describe("spublish", 3, "7.0.0", "Tells a message to all who listen to a shard channel.").flags(FAST)
                .complexity(PER_LISTENER).key(1).access(KeyUse.NO_KEY)
                .channels(1, 1).publishes().handler(call -> publish(call, Scope.SHARD_CHANNEL)));
        table.add(CommandSpec.named("pubsub").arity(-2).group(GROUP).since("2.8.0")
                .complexity("Depends on subcommand.").summary("Who listens to what.")
                .subcommand(describe("channels", -2, "2.8.0", "The channels that somebody listens to.")
                        .complexity("O(N) in the channels").handler(call -> names(call, Scope.CHANNEL)))
                .subcommand(describe("numsub", -2, "2.8.0", "How many clients listen to channels.").complexity(NAMES)
                        .handler(call -> counts(call, Scope.CHANNEL)))
                .subcommand(describe("numpat", 2, "2.8.0", "How many patterns somebody listens to.")
                        .handler(call -> call.reply().integer(channels.count(Scope.PATTERN))))
                .subcommand(describe("shardchannels", -2, "7.0.0", "The shard channels that somebody listens to.")
                        .complexity("O(N) in the shard channels").handler(call -> names(call, Scope.SHARD_CHANNEL)))
                .subcommand(describe("shardnumsub", -2, "7.0.0", "How many clients listen to shard channels.")
                        .complexity(NAMES).handler(call -> counts(call, Scope.SHARD_CHANNEL)))
                .subcommand(HelpText.describe(GROUP, "6.2.0").handler(PubSubCommands::help)));
    }

    private static CommandBuilder describe(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).group(GROUP).since(since).summary(summary)
                .flags(PUBSUB, LOADING, STALE);
    }

    private static CommandBuilder subscribing(String name, int arity, String since, String summary) {
        return describe(name, arity, since, summary).flags(NOSCRIPT).complexity(NAMES).allowedWhileListening()
                .pushes();
    }

    // --- listening

    private static void subscribe(Invocation call, Scope scope) {
        if (scope == Scope.SHARD_CHANNEL && call.isInTransaction()) {
            call.reply().error("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client");
            return;
        }
        if (scope == Scope.PATTERN && hasLongArgument(call)) {
            // Every message would be held against it.
            call.reply().error(TOO_LONG);
            return;
        }
        call.mayHaveChanged(true);
        // What has happened before is not for it.
        call.events().publish();
        listen(call, scope);
        // ORDER: pairs with ListenedChannels.disconnectBeyond. Rules may have changed since they were asked.
        if (ListenedChannels.areNamedBeyond(call, scope)) {
            call.client().closeAfterReply();
        }
    }

    private static void listen(Invocation call, Scope scope) {
        Subscriptions mine = call.client().subscriptions();
        for (int i = 1; i < call.argumentCount(); i++) {
            if (!mine.add(scope, argument(call, i))) {
                call.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
                return;
            }
            confirm(call.reply(), scope.subscribeWord());
            call.reply().bulk(call.argumentAddress(i), call.argumentLength(i));
            call.reply().integer(mine.told(scope));
        }
    }

    private static boolean hasLongArgument(Invocation call) {
        for (int i = 1; i < call.argumentCount(); i++) {
            if (call.argumentLength(i) > Arguments.MAX_TEXT_BYTES) {
                return true;
            }
        }
        return false;
    }

    private static Name argument(Invocation call, int index) {
        return Name.at(call.argumentAddress(index), call.argumentLength(index));
    }

    /** Begins a confirmation, which the name and a count follow. */
    private static void confirm(ReplyWriter reply, String word) {
        reply.push(3);
        reply.bulkAscii(word);
    }

    /** What was published before the subscription ends comes before its confirmation, and nothing comes behind it. */
    private static void unsubscribe(Invocation call, Scope scope) {
        call.mayHaveChanged(true);
        call.events().publish();
        if (call.argumentCount() == 1) {
            unsubscribeFromAll(call, scope);
            return;
        }
        ReplyWriter reply = call.reply();
        Subscriptions mine = call.client().subscriptions();
        for (int i = 1; i < call.argumentCount(); i++) {
            mine.leave(scope, argument(call, i));
        }
        writeMessages(call, mine);
        for (int i = 1; i < call.argumentCount(); i++) {
            mine.remove(scope, argument(call, i));
            confirm(reply, scope.unsubscribeWord());
            reply.bulk(call.argumentAddress(i), call.argumentLength(i));
            reply.integer(mine.told(scope));
        }
    }

    private static void unsubscribeFromAll(Invocation call, Scope scope) {
        ReplyWriter reply = call.reply();
        Subscriptions mine = call.client().subscriptions();
        List<Name> names = mine.names(scope);
        for (Name name : names) {
            mine.leave(scope, name);
        }
        writeMessages(call, mine);
        for (Name name : names) {
            mine.remove(scope, name);
            confirm(reply, scope.unsubscribeWord());
            reply.bulk(name.bytes());
            reply.integer(mine.told(scope));
        }
        if (names.isEmpty()) {
            confirm(reply, scope.unsubscribeWord());
            reply.nil();
            reply.integer(mine.told(scope));
        }
    }

    /**
     * What came before is read before the confirmation. Among the replies of a transaction there is no place for it: there, what comes
     * while it runs is dropped.
     */
    private static void writeMessages(Invocation call, Subscriptions mine) {
        if (!call.isInTransaction()) {
            mine.writeAll(call.reply());
        }
    }

    // --- publishing

    private void publish(Invocation call, Scope scope) {
        call.mayHaveChanged(true);
        call.events().publish();
        Name channel = argument(call, 1);
        Content content = Content.at(call.argumentAddress(2), call.argumentLength(2), call.shareRun(2));
        int delivered = channels.publish(scope, channel, content, pattern -> matches(call, pattern));
        if (delivered == Channels.REFUSED) {
            call.reply().error(Errors.OUT_OF_MEMORY);
        } else {
            call.reply().integer(delivered);
        }
    }

    /** Whether a pattern that somebody listens to matches the channel that is published to. */
    private static boolean matches(Invocation call, Name pattern) {
        return GlobPattern.matches(call.scratch(pattern.bytes()), pattern.length(), call.argumentAddress(1),
                call.argumentLength(1));
    }

    // --- who listens

    private void names(Invocation call, Scope scope) {
        if (call.argumentCount() > 3) {
            call.reply().error("ERR unknown subcommand or wrong number of arguments for '" + call.argumentString(1)
                    + "'. Try PUBSUB HELP.");
            return;
        }
        boolean all = call.argumentCount() == 2;
        ReplyWriter reply = call.reply();
        Collection<Name> names = channels.names(scope);
        long mark = reply.beginDeferred();
        int count = 0;
        for (Name name : names) {
            if (all || isMatched(call, name)) {
                reply.bulk(name.bytes());
                count++;
            }
        }
        reply.endArray(mark, count);
    }

    /** Whether a name that somebody listens to matches the pattern that is asked for. */
    private static boolean isMatched(Invocation call, Name name) {
        if (name.length() <= Arguments.MAX_TEXT_BYTES) {
            return isMatched(call, call.scratch(name.bytes()), name.length());
        }
        // Scratch memory would stay as large as that.
        ValueRun room = call.cache().newBuffer(name.length());
        if (room == null) {
            throw NoBufferException.of(name.length());
        }
        try {
            Memory.copy(name.bytes(), 0, room.address(), name.length());
            return isMatched(call, room.address(), name.length());
        } finally {
            room.release();
        }
    }

    private static boolean isMatched(Invocation call, long name, int length) {
        return GlobPattern.matches(call.argumentAddress(2), call.argumentLength(2), name, length);
    }

    private void counts(Invocation call, Scope scope) {
        int first = 2;
        ReplyWriter reply = call.reply();
        reply.array(2L * (call.argumentCount() - first));
        for (int i = first; i < call.argumentCount(); i++) {
            reply.bulk(call.argumentAddress(i), call.argumentLength(i));
            reply.integer(channels.listeners(scope, argument(call, i)));
        }
    }

    private static void help(Invocation call) {
        HelpText.reply(call.reply(), "PUBSUB", "CHANNELS [<pattern>]",
                "    Return the currently active channels matching a <pattern> (default: '*').", "NUMPAT",
                "    Return number of subscriptions to patterns.", "NUMSUB [<channel> ...]",
                "    Return the number of subscribers for the specified channels, excluding",
                "    pattern subscriptions(default: no channels).", "SHARDCHANNELS [<pattern>]",
                "    Return the currently active shard level channels matching a <pattern> (default: '*').",
                "SHARDNUMSUB [<shardchannel> ...]",
                "    Return the number of subscribers for the specified shard level channel(s)");
    }
}
