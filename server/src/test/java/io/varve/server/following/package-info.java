@org.jspecify.annotations.NullMarked
package io.varve.server.following;
