package io.varve.server.command.sortedset;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.sortedset.SortedSetRange.Kind;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.MemberList;
import io.varve.server.config.ServerConfig;
import io.varve.server.events.KeyEvent;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.sortedset.SortedSetCommands.sortedSet;
import static io.varve.server.command.sortedset.SortedSetCommands.unkeyed;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** Commands that reply or store a range of a sorted set. Immutable: static handlers. */
final class SortedSetRangeCommands {
    private static final String COMPLEXITY = "O(log(N)+M) where N is the size of the sorted set and M the number"
            + " of members in the range";

    private SortedSetRangeCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(range("zrange", "1.2.0", "Returns members in a range of ranks, scores or lexicographical order")
                .handler(context -> answer(context, null, null)));
        table.add(range("zrevrange", "1.2.0", "Returns members in a range of ranks, by descending score")
                .handler(context -> answer(context, Kind.RANK, true)));
        table.add(range("zrangebyscore", "1.0.5", "Returns members in a range of scores")
                .handler(context -> answer(context, Kind.SCORE, false)));
        table.add(range("zrevrangebyscore", "2.2.0",
                "Returns members in a range of scores, by descending score")
                .handler(context -> answer(context, Kind.SCORE, true)));
        table.add(range("zrangebylex", "2.8.9", "Returns members in a lexicographical range")
                .handler(context -> answer(context, Kind.MEMBER, false)));
        table.add(range("zrevrangebylex", "2.8.9",
                "Returns members in a lexicographical range, in reverse order")
                .handler(context -> answer(context, Kind.MEMBER, true)));
        table.add(unkeyed("zrangestore", -5, "6.2.0", "Stores a range of members of a sorted set in another key")
                .keys(1, 2, 1)
                .access("OW update", "RO access").flags(WRITE, DENYOOM).complexity(COMPLEXITY)
                .traits(CommandTrait.ALL_OR_NOTHING)
                .handler(SortedSetRangeCommands::store));
    }

    private static CommandBuilder range(String name, String since, String summary) {
        return sortedSet(name, -4, since, summary).access("RO access").flags(READONLY).complexity(COMPLEXITY);
    }

    private static void answer(CommandContext context, @Nullable Kind kind, @Nullable Boolean reversed) {
        SortedSetRangeRequest request = SortedSets.of(context).rangeRequest().begin(kind, reversed);
        SortedSetValue set = SortedSets.of(context).set();
        if (request.read(context, 1, true) && set.open(context, context.keyAt(0)) != Found.WRONG_TYPE) {
            SortedSetRange range = request.resolve(context, set);
            ScoredReplies.members(context.reply(), set, range.from(), range.to(), request.reversed(),
                    request.withScores());
        }
    }

    private static void store(CommandContext context) {
        SortedSetRangeRequest request = SortedSets.of(context).rangeRequest().begin(null, null);
        SortedSetValue set = SortedSets.of(context).set();
        if (!request.read(context, 2, false) || set.open(context, context.keyAt(1)) == Found.WRONG_TYPE) {
            return;
        }
        SortedSetRange range = request.resolve(context, set);
        MemberList members = SortedSets.of(context).members();
        try {
            members.expect(context.cache(), range.to() - range.from());
            boolean more = range.to() > range.from() && set.seek(range.from());
            for (long left = range.to() - range.from(); left > 0 && more; left--) {
                members.add(context.cache(), set.memberAddress(), set.memberLength(), 0, set.score());
                more = set.next();
            }
            loseSignsOfZero(context.server().config(), members, request);
            SortedSets.of(context).result().store(context, context.keyAt(0), members, KeyEvent.ZRANGESTORE);
            context.reply().integer(members.count());
        } finally {
            members.release();
        }
    }

    /**
     * Removes the sign of zero scores as Redis does. Redis adds the members one by one to a listpack, where zero has no
     * sign. Only members added after the conversion keep the sign. For a range of ranks it knows the size in advance,
     * and starts with the final encoding.
     */
    private static void loseSignsOfZero(ServerConfig config, MemberList members, SortedSetRangeRequest request) {
        long max = config.zsetMaxListpackEntries();
        int count = members.count();
        if (request.isOfRanks() && count > max) {
            return;
        }
        for (int place = 0; place < Math.min(count, max); place++) {
            int number = request.reversed() ? count - 1 - place : place;
            if (members.length(number) > config.zsetMaxListpackValueBytes()) {
                return;
            }
            members.score(number, members.score(number) + 0.0);
        }
    }
}
