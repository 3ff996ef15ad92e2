-- Creates the role and the database of the servers. Patroni executes this file once, when it creates the cluster.
\getenv password SVC_PASSWORD
CREATE ROLE svc LOGIN PASSWORD :'password';
CREATE DATABASE crm OWNER svc;
