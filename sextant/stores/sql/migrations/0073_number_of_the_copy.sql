-- How many times a graph database has taken something over; its copy bears the number, too. One that bears a lesser
-- number was restored from a backup, or lies on a server that was used before: it is copied whole again.
alter table graph_versions add column copied bigint not null default 0;
