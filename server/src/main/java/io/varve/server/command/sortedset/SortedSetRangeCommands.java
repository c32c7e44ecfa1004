package io.varve.server.command.sortedset;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.sortedset.SortedSetRange.Kind;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.MemberList;
import io.varve.server.config.ServerConfig;
import io.varve.server.events.KeyEvent;
import org.jspecify.annotations.Nullable;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.sortedset.SortedSetCommands.sortedSet;
import static io.varve.server.command.sortedset.SortedSetCommands.unkeyed;

/** Commands that answer or store a part of a sorted set. Immutable: static handlers. */
final class SortedSetRangeCommands {
    private static final String COMPLEXITY = "O(log(N)+M) with M the members of the range";

    private SortedSetRangeCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(range("zrange", "1.2.0", "Answers a part of a sorted set, by rank, score or member")
                .handler(call -> answer(call, null, null)));
        table.add(range("zrevrange", "1.2.0", "Answers a part of a sorted set, by rank from its end")
                .handler(call -> answer(call, Kind.RANK, true)));
        table.add(range("zrangebyscore", "1.0.5", "Answers the members of a sorted set between two scores")
                .handler(call -> answer(call, Kind.SCORE, false)));
        table.add(range("zrevrangebyscore", "2.2.0",
                "Answers the members of a sorted set between two scores, from the greatest")
                .handler(call -> answer(call, Kind.SCORE, true)));
        table.add(range("zrangebylex", "2.8.9", "Answers the members of a sorted set between two members")
                .handler(call -> answer(call, Kind.MEMBER, false)));
        table.add(range("zrevrangebylex", "2.8.9",
                "Answers the members of a sorted set between two members, from the last")
                .handler(call -> answer(call, Kind.MEMBER, true)));
        table.add(unkeyed("zrangestore", -5, "6.2.0", "Puts a part of a sorted set under another key").keys(1, 2, 1)
                .access("OW update", "RO access").flags(WRITE, DENYOOM).complexity(COMPLEXITY).allOrNothing()
                .handler(SortedSetRangeCommands::store));
    }

    private static CommandBuilder range(String name, String since, String summary) {
        return sortedSet(name, -4, since, summary).access("RO access").flags(READONLY).complexity(COMPLEXITY);
    }

    private static void answer(Invocation call, @Nullable Kind kind, @Nullable Boolean reversed) {
        SortedSetRangeRequest request = SortedSets.of(call).rangeRequest().begin(kind, reversed);
        SortedSetValue set = SortedSets.of(call).set();
        if (request.read(call, 1, true) && set.open(call, call.keyAt(0)) != Found.WRONG_TYPE) {
            SortedSetRange range = request.lookIn(call, set);
            ScoredReplies.members(call.reply(), set, range.from(), range.to(), request.reversed(),
                    request.withScores());
        }
    }

    private static void store(Invocation call) {
        SortedSetRangeRequest request = SortedSets.of(call).rangeRequest().begin(null, null);
        SortedSetValue set = SortedSets.of(call).set();
        if (!request.read(call, 2, false) || set.open(call, call.keyAt(1)) == Found.WRONG_TYPE) {
            return;
        }
        SortedSetRange range = request.lookIn(call, set);
        MemberList members = SortedSets.of(call).members();
        try {
            members.expect(call.cache(), range.to() - range.from());
            boolean more = range.to() > range.from() && set.seek(range.from());
            for (long left = range.to() - range.from(); left > 0 && more; left--) {
                members.add(call.cache(), set.memberAddress(), set.memberLength(), 0, set.score());
                more = set.next();
            }
            loseSignsOfZero(call.server().config(), members, request);
            SortedSets.of(call).result().store(call, call.keyAt(0), members, KeyEvent.ZRANGESTORE);
            call.reply().integer(members.count());
        } finally {
            members.release();
        }
    }

    /**
     * Redis adds one member after the other to what is a listpack first, where zero has no sign; only what comes when it is none any more keeps
     * it. Of ranks it knows before how many there are, and begins with what they need.
     */
    private static void loseSignsOfZero(ServerConfig config, MemberList members, SortedSetRangeRequest request) {
        long most = config.zsetMaxListpackEntries();
        int count = members.count();
        if (request.isOfRanks() && count > most) {
            return;
        }
        for (int place = 0; place < Math.min(count, most); place++) {
            int number = request.reversed() ? count - 1 - place : place;
            if (members.length(number) > config.zsetMaxListpackValueBytes()) {
                return;
            }
            members.score(number, members.score(number) + 0.0);
        }
    }
}
