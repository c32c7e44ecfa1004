package io.varve.server.command.geo;

import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.sortedset.SortedSetValue;
import io.varve.server.command.sortedset.SortedSets;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.MemberList;
import io.varve.server.events.KeyEvent;
import io.varve.server.geo.GeoArea;
import io.varve.server.geo.GeoHash;
import io.varve.server.geo.GeoHashCells;
import io.varve.server.resp.ReplyWriter;

import static io.varve.server.command.geo.GeoCommands.geo;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/** Commands that search for places in a circle or a rectangle. Immutable: static handlers. */
final class GeoSearchCommands {
    private static final String COMPLEXITY = "O(N+log(M)) where N is the number of members in grid cells around"
            + " the area, M inside it";

    private GeoSearchCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(geo("geosearch", -7, "6.2.0",
                "Returns the members of a geospatial index inside a circle or a rectangle").access("RO access")
                .flags(READONLY).complexity(COMPLEXITY).handler(context -> run(context, GeoRequest.Form.SEARCH)));
        table.add(geo("geosearchstore", -8, "6.2.0",
                "Stores the members of a geospatial index inside a circle or a rectangle in another key")
                .keys(1, 2, 1).access("OW update", "RO access").flags(WRITE, DENYOOM).complexity(COMPLEXITY)
                .traits(CommandTrait.ALL_OR_NOTHING).handler(context -> run(context, GeoRequest.Form.SEARCH_STORE)));
        table.add(storing("georadius", -6, "3.2.0", "Returns or stores the members within a distance of a point", 6)
                .handler(context -> run(context, GeoRequest.Form.RADIUS)));
        table.add(storing("georadiusbymember", -5, "3.2.0",
                "Returns or stores the members within a distance of a member", 5)
                .handler(context -> run(context, GeoRequest.Form.RADIUS_BY_MEMBER)));
        table.add(geo("georadius_ro", -6, "3.2.10", "Returns the members within a distance of a point")
                .access("RO access").flags(READONLY).complexity(COMPLEXITY)
                .handler(context -> run(context, GeoRequest.Form.RADIUS_READ_ONLY)));
        table.add(geo("georadiusbymember_ro", -5, "3.2.10", "Returns the members within a distance of a member")
                .access("RO access").flags(READONLY).complexity(COMPLEXITY)
                .handler(context -> run(context, GeoRequest.Form.RADIUS_BY_MEMBER_READ_ONLY)));
    }

    private static CommandBuilder storing(String name, int arity, String since, String summary, int firstOption) {
        return geo(name, arity, since, summary).access("RO access")
                .keyBehind("STORE", firstOption, "OW update").keyBehind("STOREDIST", firstOption, "OW update")
                .keyFinder((arguments, keys) -> {
                    keys.add(1);
                    for (int i = firstOption; i + 1 < arguments.argumentCount(); i++) {
                        if (arguments.argumentIs(i, "STORE") || arguments.argumentIs(i, "STOREDIST")) {
                            keys.add(++i);
                        }
                    }
                }).flags(WRITE, DENYOOM).complexity(COMPLEXITY).traits(CommandTrait.ALL_OR_NOTHING);
    }

    private static void run(CommandContext context, GeoRequest.Form form) {
        SortedSetValue set = SortedSets.of(context).set();
        Found found = set.open(context, context.key(form.source()));
        if (found == Found.WRONG_TYPE) {
            return;
        }
        GeoRequest request = new GeoRequest(form);
        if (!request.read(context, set, found == Found.PRESENT)) {
            return;
        }
        MemberList places = SortedSets.of(context).members();
        try {
            if (found == Found.PRESENT) {
                collect(context, set, request, places);
            }
            if (request.storeArgument() > 0) {
                store(context, request, places);
            } else {
                reply(context.reply(), request, places);
            }
        } finally {
            places.release();
        }
    }

    /** Collects the places in the area, each with its distance, in the requested order. */
    private static void collect(CommandContext context, SortedSetValue set, GeoRequest request, MemberList places) {
        GeoArea area = request.area();
        GeoHashCells cells = new GeoHashCells(area);
        long max = request.any() ? request.count() : Long.MAX_VALUE;
        for (int i = 0; i < cells.count() && places.count() < max; i++) {
            long from = set.rankOfScore(cells.minScore(i), false);
            long left = set.rankOfScore(cells.scoreBehind(i), false) - from;
            for (boolean more = left > 0 && set.seek(from); more && left > 0 && places.count() < max; left--) {
                double score = set.score();
                long bits = GeoHash.bitsOf(score);
                double distance = area.distanceInside(GeoHash.longitude(bits), GeoHash.latitude(bits));
                if (!Double.isNaN(distance)) {
                    int place = places.add(context.cache(), set.memberAddress(), set.memberLength(), 0, score);
                    places.doubleNote(place, distance);
                }
                more = set.next();
            }
        }
        if (request.sorted()) {
            places.sort(context.cache(),
                    request.descending() ? MemberList.Order.NOTE_DESCENDING : MemberList.Order.NOTE);
        }
        if (request.count() > 0) {
            places.keepFirst(request.count());
        }
    }

    private static void reply(ReplyWriter reply, GeoRequest request, MemberList places) {
        reply.array(places.count());
        for (int i = 0; i < places.count(); i++) {
            int place = places.inOrder(i);
            if (request.details() > 0) {
                reply.array(1L + request.details());
            }
            reply.bulk(places.address(place), places.length(place));
            long bits = GeoHash.bitsOf(places.score(place));
            if (request.withDistance()) {
                reply.bulkFourDecimals(places.doubleNote(place) / request.area().unit());
            }
            if (request.withHash()) {
                reply.integer(GeoHash.integerOf(places.score(place)));
            }
            if (request.withCoordinates()) {
                GeoCommands.replyPlace(reply, bits);
            }
        }
    }

    private static void store(CommandContext context, GeoRequest request, MemberList places) {
        places.keepInOrder(context.cache());
        if (request.storesDistance()) {
            for (int i = 0; i < places.count(); i++) {
                places.score(i, places.doubleNote(i) / request.area().unit());
            }
        }
        places.sort(context.cache(), MemberList.Order.SCORE);
        KeyEvent event = context.spec().fullName().equals("geosearchstore")
                ? KeyEvent.GEOSEARCHSTORE
                : KeyEvent.GEORADIUSSTORE;
        SortedSets.of(context).result().store(context, context.key(request.storeArgument()), places, event);
        context.reply().integer(places.count());
    }
}
